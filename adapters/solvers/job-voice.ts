import type { InputAsked, Note } from "../../src/domain/translator.ts";
import { type MessageCarry, newMessageCarry, readMessageLines } from "./message-lines.ts";
import { readMessage } from "./messages.ts";

/** What is remembered of a job's messages, as plain JSON. */
export type VoiceState = {
  carry: MessageCarry;
  /** Keys that were asked for, with a digest of what was asked: the same words again are a job that began anew. */
  asked: [key: string, digest: number][];
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
    else {
      const { key, request } = message;
      const heard = hearQuestion(voice, key, digestOf(JSON.stringify(request)));
      if (heard === "new") inputs.push({ key, request });
      else if (heard !== "again") notes.push(badMessage(voice, heard.problem));
    }
  }
  return { notes, inputs };
}

/** An answer is filed under its key, so another question of that key would find the answer to the first. */
function hearQuestion(voice: VoiceState, key: string, digest: number): "new" | "again" | { problem: string } {
  const known = voice.asked.find(([asked]) => asked === key);
  if (known !== undefined) {
    if (known[1] === digest) return "again";
    return { problem: `the key ${JSON.stringify(key)} was used for another question: give each its own` };
  }
  if (voice.asked.length >= MAX_INPUTS) return { problem: `a job asks at most ${MAX_INPUTS} questions` };
  voice.asked.push([key, digest]);
  return "new";
}

/** FNV-1a, 32 bits: tells questions of one job apart, and no more is asked of it. */
function digestOf(text: string): number {
  let digest = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1)
    digest = Math.imul(digest ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return digest;
}

function badMessage(voice: VoiceState, problem: string): Note {
  voice.bad += 1;
  const text = `a line of $TAILRACE_MESSAGES was left out: ${problem}`;
  return { type: "solver.warning", payload: { code: "bad_message", text, count: voice.bad } };
}
