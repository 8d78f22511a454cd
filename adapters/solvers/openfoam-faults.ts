import { clip, type Fold, noteDiverged, putBounded } from "./openfoam-state.ts";

const FATAL = /^--> FOAM FATAL (IO )?ERROR ?:/;
const WARNING = /^--> FOAM (?:IO)?Warning ?:(.*)$/;
const LOCATION = /^\s+in file (\S+) at line (\d+)/;
/** Another rank's frame may stand before it on the line. */
const STACK = /^(?:#\d+ .*\[\d+\] )?#\d+ +Foam::sig(Fpe|Segv)::/;
/** Open MPI's handler, its mpirun, and the shell. */
const SIGNALLED =
  /^\[\S+\] Signal: (Floating point exception|Segmentation fault) \(\d+\)|exited on signal \d+ \((Floating point exception|Segmentation fault)\)\.$|^\S+: line \d+: +\d+ (Floating point exception|Segmentation fault)\b/;

const MAX_BLOCK_LINES = 100;
const TEXT_BYTES = 1600;
const CODES_BYTES = 1400;

/** What kind of trouble the line begins or is. True when it was one. */
export function readFault(fold: Fold, text: string): boolean {
  const { state } = fold;
  if (text.startsWith("--> FOAM")) return beginBlock(fold, text);
  const [, stack] = STACK.exec(text) ?? [];
  const [, ...names] = SIGNALLED.exec(text) ?? [];
  const signal = names.find((name) => name !== undefined);
  if (stack === "Fpe" || signal?.startsWith("F")) {
    noteDiverged(fold, { reason: "fpe", text: "floating point exception" });
    return true;
  }
  if (stack === undefined && signal === undefined) return false;
  if (state.diverged === null) state.fatal ??= "segmentation fault";
  return true;
}

function beginBlock(fold: Fold, text: string): boolean {
  const { state } = fold;
  endBlock(fold);
  const [header] = FATAL.exec(text) ?? [];
  if (header !== undefined) {
    // A nan that the program trips over later is how the run ended, not a fault of its own.
    if (state.fatal === null && state.diverged === null) {
      state.fatal = header.slice("--> ".length).replace(/ ?:$/, "");
      state.block = { kind: "fatal", code: null, text: "", lines: 0 };
    }
    return true;
  }
  const [, rest] = WARNING.exec(text) ?? [];
  if (rest === undefined) return false;
  state.warnings += 1;
  state.block = { kind: "warning", code: null, text: clip(rest.trim(), TEXT_BYTES), lines: 0 };
  return true;
}

/** A line after the header of a fatal error or a warning. True when it belongs there. */
export function readBlock(fold: Fold, text: string): boolean {
  const { block } = fold.state;
  if (block === null) return false;
  block.lines += 1;
  const belongs = block.kind === "fatal" ? readFatalLine(fold, text) : readWarningLine(fold, text);
  if (!belongs) endBlock(fold);
  return belongs;
}

/** The message is what stands before the first blank line or the place in the source. */
function readFatalLine({ state }: Fold, text: string): boolean {
  const { block } = state;
  const words = text.trim();
  if (block === null || block.lines > 4 || /^(From function|file:|FOAM |in file )/.test(words)) return false;
  if (words === "") return block.text === "";
  block.text = clip(`${block.text} ${words}`, 400);
  const header = /^FOAM FATAL (IO )?ERROR/.exec(state.fatal ?? "")?.[0] ?? "FOAM FATAL ERROR";
  state.fatal = `${header}:${block.text}`;
  return true;
}

function readWarningLine({ state }: Fold, text: string): boolean {
  const { block } = state;
  if (block === null || block.lines > MAX_BLOCK_LINES || !/^\s+\S/.test(text)) return false;
  const [, file, line] = LOCATION.exec(text) ?? [];
  if (file !== undefined) block.code ??= clip(`${file.split("/").at(-1) ?? file}:${line ?? ""}`, 60);
  else if (!/^\s+From /.test(text)) block.text = clip(`${block.text}\n${text.trim()}`.trim(), TEXT_BYTES);
  return true;
}

/** Says a warning when its text is complete: the first of its code, the tenth, the hundredth and so on. */
export function endBlock({ state, notes }: Fold): void {
  const { block } = state;
  state.block = null;
  if (block === null || block.kind === "fatal") return;
  const code = block.code ?? codeOf(block.text);
  const count = (Object.hasOwn(state.warned, code) ? (state.warned[code] ?? 0) : 0) + 1;
  putBounded(state.warned, { key: code, value: count }, CODES_BYTES);
  if (!Object.hasOwn(state.warned, code) || !/^10*$/.test(String(count))) return;
  notes.push({ type: "solver.warning", payload: { code, text: block.text, count } });
}

/** The same words with other numbers are the same warning. */
function codeOf(text: string): string {
  const words = text.toLowerCase().match(/[a-z]{2,}/g) ?? [];
  return words.slice(0, 6).join("_").slice(0, 48) || "warning";
}
