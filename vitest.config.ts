import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/{unit,contract,integration,e2e}/**/*.test.ts"],
    globalSetup: ["test/support/build.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: "forks",
    maxWorkers: 2,
    reporters: ["default", "json"],
    // .ci/run counts passed, failed and skipped tests from this file.
    outputFile: { json: "test-results/vitest.json" },
    coverage: { provider: "v8", include: ["src/**/*.ts", "adapters/**/*.ts", "workers/**/*.ts"] },
  },
});
