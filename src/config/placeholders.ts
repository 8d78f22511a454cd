import { didYouMean } from "./did-you-mean.ts";

const PLACEHOLDER = /\$\{args\.([^}]+)\}/g;

/** The arguments that `${args.<name>}` in the text stands for. */
export function argumentNamesIn(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, name = ""]) => name);
}

/** What is wrong with the text's placeholders. `names`: the tool's arguments, null when they are not known. */
export function placeholderFault(text: string, names: readonly string[] | null): string | null {
  const rest = text.replace(PLACEHOLDER, "");
  const near = /\$\{ *args?\b[^}]*\}?/.exec(rest)?.[0];
  if (near !== undefined) return `${near} is not a placeholder: write \${args.<name>}`;
  const unknown = names === null ? undefined : argumentNamesIn(text).find((name) => !names.includes(name));
  if (unknown === undefined || names === null) return null;
  const known = names.length === 0 ? "it has none" : `it has ${names.join(", ")}`;
  return `\${args.${unknown}} names no argument of this tool${didYouMean(unknown, names) || `: ${known}`}`;
}

/** Programs that take an argument as code: the one behind such an option, or (`null`) all of them. */
const CODE_TAKERS: readonly { readonly program: RegExp; readonly option: RegExp | null }[] = [
  { program: /^(?:ba|da|z|k|c|tc|fi|a)?sh$/, option: /^-[A-Za-z]*c$/ },
  { program: /^su$/, option: /^(?:-[A-Za-z]*c|--command)$/ },
  { program: /^python[\d.]*$/, option: /^-[A-Za-z]*c$/ },
  { program: /^(?:perl|ruby|node|lua)[\d.]*$/, option: /^(?:-[A-Za-z]*[eEp]|--eval|--print)$/ },
  // ssh joins its arguments with spaces and gives them to a shell on the other side.
  { program: /^ssh$/, option: null },
];

/** Says so when a caller's text would become part of a program, however it is quoted. */
export function codeHazard(argv: readonly string[], index: number): string | null {
  const [name] = argumentNamesIn(argv[index] ?? "");
  if (name === undefined) return null;
  const option = argv[index - 1] ?? "";
  const programs = argv.slice(0, index).map((element) => element.split("/").at(-1) ?? "");
  const isCode = CODE_TAKERS.some(
    (taker) =>
      (taker.option === null || taker.option.test(option)) &&
      programs.some((program) => taker.program.test(program)),
  );
  return isCode
    ? `\${args.${name}} would become part of a program's code, so a caller could run anything: let the code read the variable TAILRACE_ARG_* instead`
    : null;
}
