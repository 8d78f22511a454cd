import { describe, expect, test } from "vitest";
import { expandHosts } from "../../../../adapters/schedulers/slurm/hosts.ts";

describe("host lists", () => {
  test.each([
    ["", []],
    ["(null)", []],
    ["None assigned", []],
    ["c1", ["c1"]],
    ["c[1-3,7],d01", ["c1", "c2", "c3", "c7", "d01"]],
    ["n[08-11]", ["n08", "n09", "n10", "n11"]],
    ["r[1-2]n[1-2]-ib", ["r1n1-ib", "r1n2-ib", "r2n1-ib", "r2n2-ib"]],
    ["c[1-3", ["c[1-3"]],
    ["c[3-1]", []],
    ["c1,,c2", ["c1,,c2"]],
    ["c[a-b]", ["ca-b"]],
  ])("%j", (list, names) => {
    expect(expandHosts(list)).toEqual(names);
  });

  test("no more than a thousand names, however long the list", () => {
    expect(expandHosts("c[1-999999999]")).toHaveLength(1000);
    expect(expandHosts("r[1-5000]n[1-5000]")).toHaveLength(1000);
    expect(expandHosts("a[1-999],b[1-999]").at(-1)).toBe("b1");
  });
});
