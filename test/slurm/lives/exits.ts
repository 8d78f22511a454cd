import { expect, test } from "vitest";
import { AWAY, type Lives, livesTool } from "../../support/slurm/lives.ts";

const LIMIT_MS = 240_000;

/** How scripts end: a name, the script's last lines, and the outcome whichever witness tells it. */
export const EXITS = [
  ["zero", "exit 0", { kind: "succeeded", exitCode: 0, signal: null }],
  ["three", "exit 3", { kind: "failed", exitCode: 3, signal: null }],
  ["all_ones", "exit 255", { kind: "failed", exitCode: 255, signal: null }],
  ["killed_child", "sh -c 'kill -9 $$'\nexit $?", { kind: "failed", exitCode: null, signal: "SIGKILL" }],
  ["segfault", "kill -SEGV $$", { kind: "failed", exitCode: null, signal: "SIGSEGV" }],
] as const;

/** The wrapper is gone before it could write what it knows. */
export const UNRECORDED = "kill -9 $PPID\nsleep 5";

export const EXIT_TOOLS = [
  ...EXITS.map(([name, lines]) => livesTool(name, lines, AWAY)),
  livesTool("unrecorded", UNRECORDED, AWAY),
];

/** Exit codes and signals, told while the controller still knows the job. */
export function testExits(get: () => Lives): void {
  test.each(EXITS)(
    "how a script ended is told as it was: %s",
    async (name, _, outcome) => {
      const life = await get().start(name);
      expect(await life.outcome()).toMatchObject({ ...outcome, requeues: 0 });
      expect(life.starts()).toEqual(["0"]);
    },
    LIMIT_MS,
  );

  test(
    "a wrapper that is killed leaves no record, and the controller's word is told",
    async () => {
      const life = await get().start("unrecorded");
      expect(await life.outcome()).toMatchObject({ kind: "failed", exitCode: null, signal: "SIGKILL" });
      expect((await life.record()).end?.witness).toBe("controller");
    },
    LIMIT_MS,
  );
}
