import { afterAll, beforeAll, describe } from "vitest";
import { type Lives, startLives } from "../support/slurm/lives.ts";
import { EXIT_TOOLS, testExits } from "./lives/exits.ts";
import { NODE_TOOLS, testNodes } from "./lives/nodes.ts";
import { REQUEUE_TOOLS, testRequeues } from "./lives/requeue.ts";
import { STOP_TOOLS, testStops } from "./lives/stops.ts";

let lives: Lives | null = null;
beforeAll(async () => {
  lives = await startLives({ tools: [...REQUEUE_TOOLS, ...NODE_TOOLS, ...STOP_TOOLS, ...EXIT_TOOLS] });
});
afterAll(() => lives?.stop());

const get = () => {
  if (lives === null) throw new Error("the world has not started");
  return lives;
};

/** All at once: each of them waits for Slurm, most for ten seconds and some for more than a minute. */
describe.concurrent("the lives of a job", () => {
  testStops(get);
  testNodes(get);
  testRequeues(get);
  testExits(get);
});
