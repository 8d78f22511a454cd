import { envelope } from "../support/front-desk.ts";
import { type DeskProcess, headersOf } from "./desk-process.ts";
import { type Figure, median, round } from "./report.ts";

const ROUNDS = 9;
const REQUESTS = 3_000;
const CONCURRENCY = 32;

type Side = "bare" | "parse" | "get";

/** CPU of the server per tasks/get, against a bare Hono JSON reply and one that parses the same body. */
export async function benchGet(desk: DeskProcess, taskId: string): Promise<Figure[]> {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tasks/get",
    params: { taskId, _meta: envelope() },
  });
  const headers = headersOf("tasks/get", { taskId });
  const paths: Readonly<Record<Side, string>> = { bare: "/bare", parse: "/parse", get: "/mcp" };
  const first = await desk.post("/mcp", body, headers);
  if (!first.includes('"status":"completed"')) throw new Error(`tasks/get answers ${first.slice(0, 200)}`);
  const micros: Record<Side, number[]> = { bare: [], parse: [], get: [] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const side of ["bare", "parse", "get"] as const) {
      const cpu = await cpuPerRequest(desk, () => desk.post(paths[side], body, headers));
      if (round > 0) micros[side].push(cpu); // the first round warms up
    }
  }
  const [bare, parse, get] = [median(micros.bare), median(micros.parse), median(micros.get)];
  const detail = (other: number, name: string) => `${round(get)} µs, ${name} ${round(other)} µs of CPU`;
  return [
    {
      what: "tasks/get, server CPU ÷ bare Hono JSON reply",
      value: get / bare,
      unit: "×",
      bound: 2.5,
      rule: "at_most",
      detail: detail(bare, "bare"),
    },
    {
      what: "tasks/get, server CPU ÷ reply that parses the same body",
      value: get / parse,
      unit: "×",
      bound: 1.5,
      rule: "at_most",
      detail: detail(parse, "parse"),
    },
  ];
}

async function cpuPerRequest(desk: DeskProcess, send: () => Promise<unknown>): Promise<number> {
  const before = await desk.measure();
  let left = REQUESTS;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      await send();
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
  const after = await desk.measure();
  return (after.cpuMicros - before.cpuMicros) / REQUESTS;
}
