// Reads vitest's JSON report; prints "N passed, M failed" last; exits 1 on a failed, skipped or missing test.
import { existsSync, readFileSync } from "node:fs";

const [report = "test-results/vitest.json"] = process.argv.slice(2);
const { files, problems } = existsSync(report)
  ? { files: JSON.parse(readFileSync(report, "utf8")).testResults, problems: [] }
  : { files: [], problems: [`no test report at ${report}: the run stopped before the tests`] };

const tests = files.flatMap((file) => file.assertionResults.map((test) => ({ ...test, file: file.name })));
const passed = tests.filter((test) => test.status === "passed").length;
const failedTests = tests.filter((test) => test.status === "failed").length;
// A file that fails to load, or whose hooks fail, may hold no failed test: it counts as one failure.
const brokenFiles = files.filter(
  (file) => file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"),
);
for (const file of brokenFiles) problems.push(`failed outside its tests: ${file.name}`);
for (const test of tests) {
  if (test.status !== "passed" && test.status !== "failed") {
    problems.push(`${test.status}: ${test.file}: ${test.fullName}`);
  }
}
if (tests.length === 0) problems.push("no test ran");

const failed = failedTests + brokenFiles.length;
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 || problems.length > 0 ? 1 : 0;
