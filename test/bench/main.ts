import { createPrincipal } from "../../src/auth/tokens.ts";
import { NO_FINDINGS } from "../../src/domain/findings.ts";
import { apply } from "../../src/domain/lifecycle.ts";
import { concludeOutcome } from "../../src/domain/outcome.ts";
import type { TaskStore } from "../../src/domain/store.ts";
import { renderTask } from "../../src/mcp/wire.ts";
import { jobEnd, RESULT, submitted } from "../support/records.ts";
import { openRedis, startRedis } from "../support/redis.ts";
import { createRequest, sampleRecord } from "../support/store.ts";
import { benchCreate } from "./create.ts";
import { type DeskProcess, startDeskProcess } from "./desk-process.ts";
import { benchGet } from "./get.ts";
import { benchIdle } from "./idle.ts";
import { benchLines } from "./lines.ts";
import { type Figure, holds, printFigures } from "./report.ts";
import { benchSlurm } from "./slurm.ts";
import { openStoreOn } from "./store.ts";
import { benchStreams } from "./stream.ts";

/** The owner that the bench desk sees: it asks for no token. */
const OWNER = createPrincipal("anonymous").id;

const redis = await startRedis(["--appendonly", "yes", "--appendfsync", "always"]);
const figures: Figure[] = [];
let desk: DeskProcess | null = null;
try {
  const { store } = await openStoreOn(redis.path, openRedis, renderTask);
  const completed = await endedTask(store);
  const glance = await store.glance(completed);
  desk = await startDeskProcess(redis.path, JSON.parse(glance?.doc ?? "{}") as object);
  report(await benchGet(desk, completed));
  report([await benchCreate(store, await redis.connect("worker"))]);
  const taskIds = await Promise.all(Array.from({ length: 200 }, () => startedTask(store)));
  const publisher = await redis.connect("commands");
  const subscriber = await redis.connect("subscriber");
  report(await benchStreams(desk, store, { taskIds, publisher, subscriber }));
  await store.close();
} finally {
  await desk?.stop();
  await redis.stop();
}
report([benchLines(), await benchIdle()]);
report(await benchSlurm());
process.exit(figures.every(holds) ? 0 : 1);

function report(more: readonly Figure[]): void {
  printFigures(more);
  figures.push(...more);
}

async function startedTask(store: TaskStore): Promise<string> {
  const record = sampleRecord({ owner: OWNER, createdAtMs: await store.now() });
  await store.create(createRequest({ record }));
  return record.id;
}

/** A task that has come to its end with a result of some kilobytes. */
async function endedTask(store: TaskStore): Promise<string> {
  const id = await startedTask(store);
  const atMs = await store.now();
  const end = jobEnd();
  const outcome = concludeOutcome(end, NO_FINDINGS, false);
  const facts = [
    submitted,
    { kind: "observed", observation: { kind: "ended", end } } as const,
    { kind: "concluded", outcome, result: RESULT } as const,
  ];
  for (const fact of facts) {
    const before = (await store.read(id))?.record;
    if (before === undefined) throw new Error("no task");
    const { record: after, events } = apply(before, { ...fact, atMs });
    await store.commit({ before, after, events });
  }
  return id;
}
