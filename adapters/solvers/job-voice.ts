import type { InputAsked, Note } from "../../src/domain/translator.ts";
import { type MessageCarry, newMessageCarry, readMessageLines } from "./message-lines.ts";
import { readMessage } from "./messages.ts";

/** What is remembered of a job's messages, as plain JSON. */
export type VoiceState = {
  carry: MessageCarry;
  /** Keys that were asked for. */
  asked: string[];
  bad: number;
};

/** Questions of one job; a task's record holds them all. */
const MAX_INPUTS = 64;

export function newVoice(): VoiceState {
  return { carry: newMessageCarry(), asked: [], bad: 0 };
}

/** The job's messages in these bytes. A line that is none is counted and said as a warning, and stops nothing. */
export function hearMessages(
  voice: VoiceState,
  bytes: Uint8Array,
): { readonly notes: Note[]; readonly inputs: InputAsked[] } {
  const { carry, lines } = readMessageLines(voice.carry, bytes);
  voice.carry = carry;
  const notes: Note[] = [];
  const inputs: InputAsked[] = [];
  for (const line of lines) {
    const message = readMessage(line);
    if (message === null) continue;
    if (message.kind === "note") notes.push(message.note);
    else if (message.kind === "bad") notes.push(badMessage(voice, message.problem));
    else if (!voice.asked.includes(message.key)) {
      if (voice.asked.length >= MAX_INPUTS) {
        notes.push(badMessage(voice, `a job asks at most ${MAX_INPUTS} questions`));
      } else {
        voice.asked.push(message.key);
        inputs.push({ key: message.key, request: message.request });
      }
    }
  }
  return { notes, inputs };
}

function badMessage(voice: VoiceState, problem: string): Note {
  voice.bad += 1;
  const text = `a line of $TAILRACE_MESSAGES was left out: ${problem}`;
  return { type: "solver.warning", payload: { code: "bad_message", text, count: voice.bad } };
}
