import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { type Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { finishedPayload } from "../../adapters/solvers/finished.ts";
import { createLineFramer } from "../../adapters/solvers/lines.ts";
import { SOLVER_NAMES, translatorFor } from "../../adapters/solvers/translators.ts";
import type { JsonObject } from "../domain/json.ts";
import { judge } from "../domain/outcome.ts";
import type { Line } from "../domain/translator.ts";
import { type Registry, wholeNumber } from "./command.ts";
import { jsonText } from "./display/text.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { CliFailure, systemCode } from "./failure.ts";
import type { Shell } from "./shell.ts";

type TranslateOptions = {
  readonly solver: string;
  readonly chunks?: string;
  readonly exitCode?: number;
  readonly signal?: number;
  readonly total?: number;
  readonly unit?: string;
};

/** translate: a log to events, without a server. */
export function addTranslateCommand({ program, shell, done }: Registry): void {
  const command: Command = program.command("translate");
  command
    .description("read a log as the server would, and print its events, one JSON object per line")
    .argument("<logfile>", "the log; - reads stdin")
    .addOption(new Option("--solver <name>", "who wrote the log").choices([...SOLVER_NAMES]).default("auto"))
    .option("--chunks <file>", "cut the log as it arrived: JSON [[seconds, bytes], ...]")
    .option("--exit-code <n>", "how the program ended, as far as you know", wholeNumber)
    .option("--signal <n>", "number of the signal that ended it", signalNumber)
    .option("--total <n>", "how much there is to do, for logs that do not say", wholeNumber)
    .option("--unit <name>", "of what: step, iteration, time, frame, ...")
    .action(async (log: string, options: TranslateOptions) => done(await translateLog(log, options, shell)));
}

/** Prints every note of the log, and `solver.finished` last. Memory does not grow with the log. */
async function translateLog(log: string, options: TranslateOptions, shell: Shell): Promise<ExitCode> {
  const sizes = options.chunks === undefined ? [] : await readTrace(options.chunks);
  const translator = translatorFor(options.solver);
  const framer = createLineFramer("stdout");
  let state = translator.start({ total: options.total ?? null, unit: options.unit ?? null });

  const translate = async (lines: readonly Line[]) => {
    const events: string[] = [];
    for (const line of lines) {
      const step = translator.step(state, line);
      state = step.state;
      for (const { type, payload } of step.notes) events.push(eventLine(type, payload));
    }
    await write(events, shell);
  };
  const source = log === "-" ? shell.stdin : createReadStream(log, { highWaterMark: READ_BYTES });
  try {
    for await (const chunk of rechunked(source, sizes)) await translate(framer.feed(chunk));
  } catch (error) {
    throw unreadable(log === "-" ? "stdin" : log, error);
  }
  await translate(framer.flush());

  const findings = translator.findings(state);
  const { exitCode = null, signal = null } = options;
  const verdict = judge({ exitCode, signal, killedBy: null, termSeen: false }, findings);
  await write([eventLine("solver.finished", finishedPayload(findings, verdict))], shell);
  return EXIT.ok;
}

const READ_BYTES = 256 * 1024;
const EVENT_PREFIX = "dev.tailrace.";

function eventLine(type: string, payload: JsonObject): string {
  return `${jsonText({ type: `${EVENT_PREFIX}${type}`, payload })}\n`;
}

/** Resolves when the reader has taken it, so that a slow one makes us wait instead of filling memory. */
async function write(events: readonly string[], { stdout }: Shell): Promise<void> {
  if (events.length === 0) return;
  await new Promise<void>((resolve) => {
    stdout.write(events.join(""), () => resolve());
  });
}

/** The stream's bytes in chunks of these sizes; what is beyond them comes as it was read. */
async function* rechunked(stream: Readable, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let next = 0;
  let missing = sizes[0] ?? Number.POSITIVE_INFINITY;
  for await (const piece of stream) {
    let bytes: Uint8Array = Buffer.from(piece);
    while (bytes.length >= missing) {
      yield bytes.subarray(0, missing);
      bytes = bytes.subarray(missing);
      next += 1;
      missing = sizes[next] ?? Number.POSITIVE_INFINITY;
    }
    missing -= bytes.length;
    if (bytes.length > 0) yield bytes;
  }
}

const Trace = z.array(z.tuple([z.number(), z.number().int().nonnegative()]));

async function readTrace(file: string): Promise<number[]> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw unreadable(file, error);
  }
  try {
    return Trace.parse(JSON.parse(text)).map(([, bytes]) => bytes);
  } catch (cause) {
    throw new CliFailure(
      `${file} is no arrival trace: expected JSON such as [[0.01, 4096], [0.35, 120]], seconds and bytes of each read`,
      EXIT.usage,
      { cause },
    );
  }
}

function unreadable(name: string, cause: unknown): unknown {
  const why = REASONS[systemCode(cause) ?? ""];
  if (why === undefined) return cause;
  return new CliFailure(`cannot read ${name}: ${why}`, EXIT.failure, { cause });
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a directory; give the log file itself",
  EACCES: "it may not be read by this user",
  ENOTDIR: "a part of its path is no directory",
  EIO: "the disk reports an error",
};

function signalNumber(text: string): number {
  const signal = wholeNumber(text);
  if (signal >= 1 && signal <= 64) return signal;
  throw new InvalidArgumentError("expected a signal's number, 1 to 64.");
}
