import { expect, test } from "vitest";
import type { ToolDefinition } from "../../../src/domain/tool.ts";
import { eventually } from "../../support/eventually.ts";
import { type Life, type Lives, livesTool, PATIENCE_MS } from "../../support/slurm/lives.ts";
import { queueView } from "../../support/slurm/queue.ts";

const LIMIT_MS = 240_000;
const BODY = 'echo "life $life"\ngate "$life"';

function onNode(node: "c1" | "c2", more: ToolDefinition["options"] = {}): Partial<ToolDefinition> {
  return { options: { extra: [`--nodelist=${node}`], ...more } };
}

export const NODE_TOOLS = [
  livesTool("downed", BODY, onNode("c1")),
  livesTool("orphaned", `${BODY}\n[ "$life" = 0 ] || exit 5`, onNode("c1")),
  livesTool("downed_once", BODY, onNode("c2", { requeue: false })),
  livesTool("unlaunched", BODY, onNode("c2")),
  livesTool("outranked", BODY, onNode("c2", { partition: "low" })),
  livesTool("displaced", BODY, onNode("c2", { partition: "lowkill" })),
];

/** What becomes of a job whose node fails or whose place is taken. One test at a time has a node to itself. */
export function testNodes(get: () => Lives): void {
  const queue = () => queueView(get().cluster);
  const alone = { c1: createTurns(), c2: createTurns() };
  const down = async (name: string) => {
    await get().cluster.run(["scontrol", "update", `nodename=${name}`, "state=down", "reason=test"]);
  };
  /** A node whose slurmd has spoken meanwhile is up already, and then this is refused. */
  const up = async (name: string) => {
    const { cluster } = get();
    await cluster.tryRun(["scontrol", "update", `nodename=${name}`, "state=resume"]);
    await eventually(async () => {
      expect(await cluster.run(["sinfo", "-h", "-p", "main", "-n", name, "-o", "%t"])).not.toMatch(
        /down|[*]/,
      );
    }, PATIENCE_MS);
  };
  /** The second life, on the node that is back. */
  const goOn = async (life: Life, id: string) => {
    await queue().startNow(id);
    await life.reaches({ phase: "running", life: 1 });
    await eventually(() => expect(life.starts()).toContain("1"), PATIENCE_MS);
    life.let(1);
  };

  test(
    "a node that goes down: the job is requeued and runs again",
    async () => {
      const life = await alone.c1(async () => {
        const begun = await get().start("downed");
        const { id } = await begun.job();
        await begun.begins(1);
        try {
          await down("c1");
          await begun.reaches({ phase: "queued", life: 1 });
        } finally {
          await up("c1");
        }
        await goOn(begun, id);
        return begun;
      });
      expect(await life.outcome()).toMatchObject({ kind: "succeeded", requeues: 1 });
      expect(life.starts()).toEqual(["0", "1"]);
    },
    LIMIT_MS,
  );

  test(
    "a node that is lost: the job runs again elsewhere, and what its first run still does there is not the task's end",
    async () => {
      const life = await alone.c1(async () => {
        const begun = await get().start("orphaned");
        const { id } = await begun.job();
        await begun.begins(1);
        try {
          await get().cluster.kill("slurmd.c1");
          await begun.reaches({ phase: "queued", life: 1 }, 2 * PATIENCE_MS);
          await get().cluster.run(["scontrol", "update", `jobid=${id}`, "reqnodelist=c3"]);
          await queue().startNow(id);
          await begun.begins(2);
          begun.let(0);
          await eventually(async () => expect((await begun.readFile("exit.0.json")).trim()).not.toBe(""));
          await begun.reaches({ phase: "running", life: 1 });
          begun.let(1);
          await queue().becomes(id, /^FAILED$/);
        } finally {
          await get().cluster.start("slurmd.c1");
          await up("c1");
        }
        return begun;
      });
      expect(await life.outcome()).toMatchObject({ kind: "failed", exitCode: 5, requeues: 1 });
      expect(life.starts()).toEqual(["0", "1"]);
    },
    LIMIT_MS,
  );

  test(
    "a node that goes down under a job that may not be requeued: the node failed, and that is told at once",
    async () => {
      const life = await alone.c2(async () => {
        const begun = await get().start("downed_once");
        await begun.begins(1);
        await begun.reaches({ phase: "running" });
        try {
          await down("c2");
          const { sighting, end } = await begun.reaches({ phase: "collecting" }, 8_000);
          expect([sighting, end?.settled]).toEqual([null, true]);
        } finally {
          await up("c2");
        }
        return begun;
      });
      expect(await life.outcome()).toMatchObject({ kind: "node_fail", requeues: 0 });
      expect(life.starts()).toEqual(["0"]);
    },
    LIMIT_MS,
  );

  test(
    "requeued before its script ever began: the second life is the first to run",
    async () => {
      const life = await alone.c2(async () => {
        const { cluster } = get();
        await cluster.stop("slurmd.c2");
        const waiting = await get().start("unlaunched");
        const { id } = await waiting.job();
        try {
          await queue().becomes(id, /^(RUNNING|CONFIGURING)$/);
          await down("c2");
          await waiting.reaches({ phase: "queued", life: 1 });
        } finally {
          await cluster.cont("slurmd.c2");
          await up("c2");
        }
        await goOn(waiting, id);
        return waiting;
      });
      expect(await life.outcome()).toMatchObject({ kind: "succeeded", requeues: 1 });
      expect(life.starts().filter((begun) => begun === "1")).toEqual(["1"]);
    },
    LIMIT_MS,
  );

  test(
    "preempted where that means requeued: working again, and the next life runs when there is room",
    async () => {
      const life = await alone.c2(async () => {
        const begun = await get().start("outranked");
        const { id } = await begun.job();
        await begun.begins(1);
        const winner = await preempt(get());
        await begun.reaches({ phase: "queued", life: 1 });
        await winner.leave();
        await goOn(begun, id);
        return begun;
      });
      expect(await life.outcome()).toMatchObject({ kind: "succeeded", requeues: 1 });
      expect(life.starts()).toEqual(["0", "1"]);
    },
    LIMIT_MS,
  );

  test(
    "preempted where that means cancelled: preempted, and not cancelled by anybody",
    async () => {
      const life = await alone.c2(async () => {
        const begun = await get().start("displaced");
        const { id } = await begun.job();
        await begun.begins(1);
        const winner = await preempt(get());
        await queue().becomes(id, /^PREEMPTED$/);
        await winner.leave();
        return begun;
      });
      expect(await life.outcome()).toMatchObject({ kind: "preempted", ok: false, requeues: 0 });
      expect(life.starts()).toEqual(["0"]);
    },
    LIMIT_MS,
  );
}

/** A job of higher priority that wants all of c2. */
async function preempt({ cluster }: Lives): Promise<{ leave(): Promise<void> }> {
  const where = ["--partition=high", "--exclusive", "--nodelist=c2"] as const;
  const argv = ["sbatch", "--parsable", "--output=/dev/null", ...where] as const;
  const id = (await cluster.run(argv, { input: "#!/bin/sh\nexec sleep 300\n" })).trim();
  await queueView(cluster).becomes(id, /^RUNNING$/);
  return {
    async leave() {
      await cluster.run(["scancel", id]);
      await queueView(cluster).becomes(id, /^CANCELLED$/);
    },
  };
}

/** Runs what it is given one after the other. */
function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work, work);
    last = mine;
    return mine;
  };
}
