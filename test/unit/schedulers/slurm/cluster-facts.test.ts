import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseClusterFacts } from "../../../../adapters/schedulers/slurm/cluster-facts.ts";

function configOf(file: string): string {
  return readFileSync(new URL(`../../../fixtures/slurm/config/${file}`, import.meta.url), "utf8");
}

const NOTHING = {
  version: null,
  clusterName: null,
  accounting: false,
  minJobAgeSeconds: null,
  killWaitSeconds: null,
  jobRequeue: null,
  enforcePartLimits: null,
  privateData: [],
  controllers: 0,
  proctrack: null,
  messageTimeoutSeconds: null,
  jobFileAppend: null,
};

describe("the cluster's configuration", () => {
  test("of a 22.05 with accounting", () => {
    expect(parseClusterFacts(configOf("22.05.8.txt"))).toEqual({
      version: "22.05.8",
      clusterName: "test",
      accounting: true,
      minJobAgeSeconds: 300,
      killWaitSeconds: 2,
      jobRequeue: true,
      enforcePartLimits: "NO",
      privateData: [],
      controllers: 1,
      proctrack: "proctrack/linuxproc",
      messageTimeoutSeconds: 10,
      jobFileAppend: false,
    });
  });

  test("an answer that was cut leaves out what it does not tell", () => {
    expect(parseClusterFacts(configOf("24.11.5-first-lines.txt"))).toMatchObject({
      version: null,
      accounting: true,
      clusterName: "test1",
      controllers: 0,
      proctrack: null,
    });
    expect(parseClusterFacts("")).toEqual(NOTHING);
    expect(parseClusterFacts("slurm_load_ctl_conf error: Unable to contact slurm controller\n")).toEqual(
      NOTHING,
    );
  });

  test.each([
    ["accounting_storage/slurmdbd", true],
    ["accounting_storage/none", false],
    ["accounting_storage/mysql", true],
    ["(null)", false],
    ["", false],
  ])("accounting by %j: %s", (type, accounting) => {
    expect(parseClusterFacts(`AccountingStorageType = ${type}\n`).accounting).toBe(accounting);
  });

  test("every controller counts, and what is hidden is a list", () => {
    const facts = parseClusterFacts(
      "SlurmctldHost[0]        = m1\nSlurmctldHost[1]        = m2(10.0.0.2)\nPrivateData             = jobs,Usage\nMinJobAge = 0 sec\n",
    );
    expect(facts).toMatchObject({ controllers: 2, privateData: ["jobs", "usage"], minJobAgeSeconds: 0 });
  });

  test("values that are none are null, and no text makes it throw", () => {
    expect(
      parseClusterFacts("MinJobAge = soon\nKillWait=30\nJobRequeue = yes\nPrivateData = none"),
    ).toMatchObject({
      minJobAgeSeconds: null,
      killWaitSeconds: 30,
      jobRequeue: null,
      privateData: [],
    });
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(Object.keys(parseClusterFacts(text))).toEqual(Object.keys(NOTHING));
      }),
    );
  });
});
