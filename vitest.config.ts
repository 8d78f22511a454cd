import { defineConfig } from "vitest/config";
import { clusterProblem } from "./test/support/slurm/named-conf.ts";

const COMMON = { testTimeout: 120_000, hookTimeout: 120_000, pool: "forks" } as const;

const HERE = {
  test: { ...COMMON, name: "here", include: ["test/{unit,contract,integration,e2e}/**/*.test.ts"] },
};

/** After the others and one file at a time: they share a cluster, and some of them stop its daemons. */
const SLURM = {
  test: {
    ...COMMON,
    name: "slurm",
    include: ["test/slurm/**/*.test.ts"],
    maxWorkers: 1,
    // Concurrent tests of one file wait for Slurm most of the time.
    maxConcurrency: 40,
    sequence: { groupOrder: 1 },
  },
};

/** `--mode slurm` (npm run test:slurm) runs the Slurm tests alone; else they run where a cluster answers. */
export default defineConfig(({ mode }) => {
  const only = mode === "slurm";
  // CI that was given a cluster fails when the cluster is gone, and does not pass without it.
  const required = only || Boolean(process.env["CI"] && process.env["SLURM_CONF"]);
  const problem = required ? null : clusterProblem();
  const slurmSetup = required ? ["required"] : problem === null ? [] : ["left-out"];
  return {
    test: {
      projects: only ? [SLURM] : problem === null ? [HERE, SLURM] : [HERE],
      globalSetup: [...slurmSetup.map((name) => `test/support/slurm/${name}.ts`), "test/support/build.ts"],
      maxWorkers: 2,
      reporters: ["default", "json"],
      // .ci/run counts passed, failed and skipped tests from these files.
      outputFile: { json: `test-results/${only ? "slurm" : "vitest"}.json` },
      coverage: { provider: "v8", include: ["src/**/*.ts", "adapters/**/*.ts", "workers/**/*.ts"] },
    },
  };
});
