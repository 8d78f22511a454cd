import fc from "fast-check";
import { expect, test } from "vitest";
import { BridgeError } from "../../../src/domain/errors.ts";
import { readTaskLog } from "../../../src/tasks/log.ts";
import { freshRecord, JOB } from "../../support/records.ts";

const CALLER = { id: "owner", name: "o" };
const TASK_ID = "t_aaaaaaaaaaaaaaaaaaaaaaaa";

function reader(bytes: Uint8Array, fields: Parameters<typeof freshRecord>[0] = { job: JOB }) {
  const record = freshRecord({ id: TASK_ID, ...fields });
  const store = { read: async () => ({ record, progress: null, nextSeq: 1, epoch: 0 }) };
  return (offset: number, maxBytes: number) =>
    readTaskLog(
      {
        store,
        readLog: async (_, __, range) => {
          const part = bytes.subarray(range.offset, range.offset + range.maxBytes);
          return { bytes: part, atEnd: range.offset + part.length >= bytes.length };
        },
      },
      CALLER,
      { taskId: TASK_ID, source: "stdout", offset, maxBytes },
    );
}

test("parts of any size joined are the whole text: no character is split", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "grapheme", maxLength: 40 }),
      fc.integer({ min: 4, max: 9 }),
      async (text, size) => {
        const plain = text.replace(/\p{Cc}/gu, "");
        const read = reader(Buffer.from(plain));
        let joined = "";
        let offset = 0;
        for (let part = await read(0, size); part.text !== ""; part = await read(offset, size)) {
          joined += part.text;
          offset = part.nextOffset;
        }
        expect(joined).toBe(plain);
      },
    ),
  );
});

test("control characters are taken out; lines and tabs stay", async () => {
  const part = await reader(Buffer.from("a\u001b[31mb\r\nc\rd\te\u0007\u009b\n"))(0, 100);
  expect(part.text).toBe("a[31mb\nc\nd\te\n");
});

test("a character that its log never ended is shown as broken once the task has ended, and waited for before", async () => {
  const torn = Buffer.from("ab\u00e9").subarray(0, 3);
  expect(await reader(torn)(0, 10)).toMatchObject({ text: "ab", nextOffset: 2, ended: false });
  const ended = await reader(torn, { job: JOB, phase: "ended" })(0, 10);
  expect(ended).toMatchObject({ text: "ab\ufffd", nextOffset: 3, atEnd: true, ended: true });
});

test("bytes that are no text at all are handed out, not waited for", async () => {
  const part = await reader(Buffer.from([0x80, 0x80, 0x80, 0x80]))(0, 10);
  expect(part.nextOffset).toBe(4);
});

test("a target that is out of reach is told as such, to be asked again", async () => {
  const record = freshRecord({ id: TASK_ID, job: JOB });
  const faults = [
    new BridgeError("unreachable", "here", "ssh: no route"),
    new DOMException("late", "TimeoutError"),
  ];
  for (const fault of faults) {
    const deps = {
      store: { read: async () => ({ record, progress: null, nextSeq: 1, epoch: 0 }) },
      readLog: () => Promise.reject(fault),
    };
    const reading = readTaskLog(deps, CALLER, { taskId: TASK_ID, source: "stdout", offset: 0, maxBytes: 1 });
    await expect(reading).rejects.toMatchObject({ code: "target_unavailable" });
  }
});

test("a task without a job has an empty log, and the reader is not asked", async () => {
  expect(await reader(Buffer.from("x"), { job: null })(0, 10)).toMatchObject({ text: "", nextOffset: 0 });
});
