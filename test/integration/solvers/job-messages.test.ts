import { afterAll, beforeAll, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/domain/json.ts";
import { eventually } from "../../support/eventually.ts";
import { scriptTool, startWorld, type World } from "../../support/world.ts";

let world: World;

/** Appends its argument as one line to the job's message file. */
const SAY = `say() { printf '%s\\n' "$1" >> "$TAILRACE_MESSAGES"; }\n`;
const ASK = `${SAY}say '{"type":"input","key":"go_on","message":"Go on?","schema":{"type":"object","properties":{"cells":{"type":"integer"}},"required":["cells"]}}'
while [ ! -e "$TAILRACE_TASK_DIR/.tailrace/input/go_on.json" ]; do sleep 0.05; done
printf '{"answer":%s}' "$(cat "$TAILRACE_TASK_DIR/.tailrace/input/go_on.json")" > result.json
`;

beforeAll(async () => {
  world = await startWorld({
    tools: [
      scriptTool("ask", ASK),
      scriptTool(
        "talk",
        `${SAY}say '{"type":"progress","current":3,"total":12,"unit":"case"}'
say '{"type":"metric","name":"drag","value":0.25,"unit":"1"}'
say '{"type":"event","name":"mesh.ready","payload":{"cells":400}}'
say '{"type":"artifact","path":"out.vtk","note":"first field"}'
say '{"type":"warning","text":"the mesh is coarse"}'
say 'not a message'
say '{"type":"task.ended"}'
echo '{"type":"metric","name":"fake","value":1}'
`,
      ),
      scriptTool("promise", `echo '{"cells":"many"}' > result.json`, {
        outputSchema: { type: "object", properties: { cells: { type: "integer" } } },
      }),
    ],
  });
});
afterAll(() => world.stop());

async function taskOf(taskId: string): Promise<JsonObject> {
  return (await world.call("tasks/get", { taskId })).result;
}

function resultOf(task: JsonObject): JsonObject {
  return (task["result"] as { structuredContent: JsonObject }).structuredContent;
}

test("a job asks, the task shows the question, and the answer reaches the job: junk keys do not", async () => {
  const taskId = await world.start("ask");
  const asked = await eventually(async () => {
    const task = await taskOf(taskId);
    expect(task["status"]).toBe("input_required");
    return task;
  });
  expect(asked["inputRequests"]).toEqual({
    go_on: {
      method: "elicitation/create",
      params: {
        mode: "form",
        message: "Go on?",
        requestedSchema: { type: "object", properties: { cells: { type: "integer" } }, required: ["cells"] },
      },
    },
  });
  expect(asked["statusMessage"]).toContain("input needed: Go on?");
  const answer = { action: "accept", content: { cells: 400 } };
  await world.call("tasks/update", { taskId, inputResponses: { "../junk": answer } });
  expect((await taskOf(taskId))["status"]).toBe("input_required");
  await world.call("tasks/update", { taskId, inputResponses: { go_on: answer } });
  const task = await world.ended(taskId);
  expect(resultOf(task)["result"]).toEqual({ answer });
  const types = (await world.events(taskId)).map(({ type }) => type.replace("dev.tailrace.", ""));
  expect(types.filter((type) => type.startsWith("input."))).toEqual(["input.requested", "input.answered"]);
});

test("workers that are stopped while a question is open find it answered, and ask it only once", async () => {
  const taskId = await world.start("ask");
  await eventually(async () => expect((await taskOf(taskId))["status"]).toBe("input_required"));
  await world.stopWorkers();
  const answer = { action: "decline" };
  await world.call("tasks/update", { taskId, inputResponses: { go_on: answer } });
  await world.startWorkers();
  expect(resultOf(await world.ended(taskId))["result"]).toEqual({ answer });
  const asked = (await world.events(taskId)).filter(({ type }) => type.endsWith("input.requested"));
  expect(asked).toHaveLength(1);
});

test("what a job says through its messages becomes events and metrics; what it prints does not", async () => {
  const taskId = await world.start("talk");
  const task = await world.ended(taskId);
  expect(resultOf(task)["metrics"]).toEqual({ drag: 0.25 });
  const events = await world.events(taskId);
  const told = (type: string): Json[] =>
    events.filter((event) => event.type === `dev.tailrace.${type}`).map(({ payload }) => payload);
  expect(told("solver.progress")).toMatchObject([{ current: 3, total: 12, unit: "case", fraction: 0.25 }]);
  expect(told("job.event.mesh.ready")).toEqual([{ cells: 400 }]);
  expect(told("artifact.announced")).toEqual([{ path: "out.vtk", note: "first field" }]);
  const warnings = told("solver.warning");
  expect(warnings).toContainEqual(expect.objectContaining({ code: "job", text: "the mesh is coarse" }));
  expect(warnings).toContainEqual(expect.objectContaining({ code: "bad_message" }));
  expect(JSON.stringify(events)).not.toContain("fake");
  expect(events.filter(({ type }) => type.endsWith("task.ended"))).toHaveLength(1);
});

test("a result that does not fit the tool's output schema is named and kept out, and the job still succeeded", async () => {
  const task = await world.ended(await world.start("promise"));
  expect(resultOf(task)).toMatchObject({
    result: null,
    outcome: {
      kind: "succeeded",
      reason: "result.json does not fit the tool's output schema at cells: must be integer",
    },
  });
});
