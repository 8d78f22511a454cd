import fc from "fast-check";
import { expect, test } from "vitest";
import { type Duty, dutiesOf, dutyChange, dutyMember, parseDutyMember } from "../../../src/domain/duties.ts";
import { AGREEMENT_MS } from "../../../src/domain/ending.ts";
import { apply } from "../../../src/domain/lifecycle.ts";
import {
  cancel,
  facts,
  freshRecord,
  records,
  sawEnd,
  sawRequeued,
  sawRunning,
  submitted,
  type Telling,
  tell,
} from "../../support/records.ts";

const members = (record: Parameters<typeof dutiesOf>[0]) =>
  dutiesOf(record).map((duty) => dutyMember(record.id, duty));

test("an ended task has no duty, and every other at least one, none of them twice", () => {
  const check = fc.property(records, (record) => {
    const all = members(record);
    if (record.phase === "ended") expect(all).toEqual([]);
    else expect(all.length).toBeGreaterThan(0);
    expect(new Set(all).size).toBe(all.length);
  });
  fc.assert(check, { numRuns: 1_000 });
});

test("adding and removing what a step changes leads from the duties before to those after", () => {
  const check = fc.property(records, facts, (before, fact) => {
    const after = apply(before, fact).record;
    const { add, remove } = dutyChange(before, after);
    const due = new Set(members(before));
    for (const member of remove) expect(due.delete(member)).toBe(true);
    for (const member of add) {
      expect(due.has(member)).toBe(false);
      due.add(member);
    }
    expect([...due].sort()).toEqual(members(after).sort());
    expect(dutyChange(null, after)).toEqual({ add: members(after), remove: [] });
    expect(dutyChange(after, after)).toEqual({ add: [], remove: [] });
  });
  fc.assert(check, { numRuns: 1_000 });
});

const ids = fc.stringMatching(/^t_[\w-]{1,32}$/);
const keys = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("", ":", "a:b", "\n", "a\nb:", "x\n", " "),
);
const duties: fc.Arbitrary<Duty> = fc.oneof(
  fc.record({ kind: fc.constantFrom("submit", "watch", "follow", "cancel") }),
  fc.record({ kind: fc.constant("deliver"), key: keys }),
);

test("a duty is read back from its member, whatever its key holds", () => {
  const check = fc.property(ids, duties, (taskId, duty) => {
    expect(parseDutyMember(dutyMember(taskId, duty))).toEqual({ taskId, duty });
  });
  fc.assert(check, { numRuns: 1_000 });
});

test.each([
  "",
  "watch",
  "watch:",
  "watch:t_1:",
  "watch:t_1:x",
  "deliver:t_1",
  "deliver::k",
  "sleep:t_1",
  " watch:t_1",
])("%j is no duty", (member) => {
  expect(parseDutyMember(member)).toBeNull();
});

const queued = tell(freshRecord(), submitted).record;
const running = tell(queued, sawRunning()).record;
const asked: Telling = { kind: "input_requested", key: "k", request: {} };
const answered: Telling = { kind: "input_answered", key: "k", answer: 1 };

test.each<[string, ReturnType<typeof freshRecord>, string[]]>([
  ["accepted", freshRecord(), ["submit"]],
  ["accepted, cancel asked", tell(freshRecord(), cancel).record, ["submit"]],
  ["queued", queued, ["watch"]],
  ["queued, cancel asked before", tell(freshRecord(), cancel, submitted).record, ["watch", "cancel"]],
  ["running", running, ["watch", "follow"]],
  ["running, cancel asked", tell(running, cancel).record, ["watch", "follow", "cancel"]],
  ["running, question open", tell(running, asked).record, ["watch", "follow"]],
  ["running, answer given", tell(running, asked, answered).record, ["watch", "follow", "deliver"]],
  [
    "running, answer delivered",
    tell(running, asked, answered, { kind: "input_delivered", key: "k" }).record,
    ["watch", "follow"],
  ],
  ["collecting", tell(running, cancel, asked, answered, sawEnd()).record, ["follow"]],
  ["requeued, cancel asked", tell(running, cancel, sawEnd(), sawRequeued).record, ["watch", "cancel"]],
])("a task that is %s owes exactly what its phase asks for", (_, record, kinds) => {
  expect(dutiesOf(record).map((duty) => duty.kind)).toEqual(kinds);
});

test("a job whose end may be undone is watched while it is collected", () => {
  const end = sawEnd({ settled: false });
  const seen = tell(running, end).record;
  const agreed = tell({ ...seen, updatedAtMs: seen.updatedAtMs + AGREEMENT_MS }, end).record;
  expect(agreed.phase).toBe("collecting");
  expect(dutiesOf(agreed).map((duty) => duty.kind)).toEqual(["watch", "follow"]);
});
