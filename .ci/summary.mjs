// Sums vitest's JSON reports; prints "N passed, M failed" last; exits 1 on a failed, skipped or missing test.
import { existsSync, readFileSync } from "node:fs";

const args = process.argv.slice(2);
const reports = args.length > 0 ? args : ["test-results/vitest.json"];
const total = { passed: 0, failed: 0, problems: [] };
for (const report of reports) {
  const { passed, failed, problems } = readReport(report);
  total.passed += passed;
  total.failed += failed;
  total.problems.push(...problems);
}
for (const problem of total.problems) process.stdout.write(`${problem}\n`);
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed > 0 || total.problems.length > 0 ? 1 : 0;

function readReport(report) {
  if (!existsSync(report)) {
    return {
      passed: 0,
      failed: 0,
      problems: [`no test report at ${report}: the run stopped before its tests`],
    };
  }
  const files = JSON.parse(readFileSync(report, "utf8")).testResults;
  const tests = files.flatMap((file) => file.assertionResults.map((test) => ({ ...test, file: file.name })));
  const count = (status) => tests.filter((test) => test.status === status).length;
  // A file that fails to load, or whose hooks fail, may hold no failed test: it counts as one failure.
  const brokenFiles = files.filter(
    (file) => file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"),
  );
  const neither = tests.filter((test) => test.status !== "passed" && test.status !== "failed");
  return {
    passed: count("passed"),
    failed: count("failed") + brokenFiles.length,
    problems: [
      ...brokenFiles.map((file) => `failed outside its tests: ${file.name}`),
      ...neither.map((test) => `${test.status}: ${test.file}: ${test.fullName}`),
      ...(tests.length === 0 ? [`no test ran for ${report}`] : []),
    ],
  };
}
