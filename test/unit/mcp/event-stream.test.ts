import { expect, test } from "vitest";
import { eventNotification } from "../../../src/mcp/event-stream.ts";
import { artifactUri, logUri, metricsUri, parseTaskPartUri } from "../../../src/mcp/uris.ts";

test("S2 an event's stored text goes out as it is, byte for byte", () => {
  const stored = '"type":"dev.tailrace.metric","payload":{"p":1.0e-4,"t":"\\u2028"}';
  const text = eventNotification("t_a", 42, stored);
  expect(text).toContain(stored);
  expect(JSON.parse(text)).toEqual({
    jsonrpc: "2.0",
    method: "notifications/tasks/event",
    params: {
      seq: 42,
      taskId: "t_a",
      type: "dev.tailrace.metric",
      payload: { p: 0.0001, t: "\u2028" },
      _meta: { "io.modelcontextprotocol/related-task": { taskId: "t_a" } },
    },
  });
});

test("addresses of logs and metrics come back; others are none", () => {
  expect(parseTaskPartUri(logUri("t_a"))?.taskId).toBe("t_a");
  expect(parseTaskPartUri(`${logUri("t_a")}?source=stderr`)?.query.get("source")).toBe("stderr");
  expect(parseTaskPartUri(metricsUri("t_a"))).toMatchObject({ part: "metrics", taskId: "t_a" });
  for (const uri of [
    "",
    "tailrace://task/a/b/log",
    "tailrace://task//log",
    `${logUri("t_a")}s`,
    "http://x/log",
  ]) {
    expect(parseTaskPartUri(uri)).toBeNull();
  }
  expect(artifactUri("t_a", "a b/ü?.txt")).toBe("tailrace://task/t_a/artifacts/a%20b/%C3%BC%3F.txt");
});
