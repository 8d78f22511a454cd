import { parseArgs } from "node:util";

/**
 * @typedef {object} Options
 * @property {number} reynolds
 * @property {number} grid cells along one side
 * @property {number} endTime in units of side over lid speed
 * @property {number | null} dt null: chosen from grid and Reynolds number
 * @property {number} steady initial residual below which the flow counts as steady; 0: never
 * @property {number} checkpointEvery steps
 * @property {string} out folder for what is written
 * @property {string | null} restart path of a checkpoint
 * @property {ReadonlySet<string>} given names of the numbers that the caller set
 *
 * @typedef {{ flag: string, fallback: number | null, min: number, max: number, whole: boolean, about: string }} Field
 */

/** A mistake of the caller: exit status 2. */
export class UsageError extends Error {}

/** @type {Record<"reynolds" | "grid" | "endTime" | "dt" | "steady" | "checkpointEvery", Field>} */
const NUMBERS = {
  reynolds: { flag: "reynolds", fallback: 100, min: 1, max: 10000, whole: false, about: "Reynolds number" },
  grid: { flag: "grid", fallback: 64, min: 4, max: 512, whole: true, about: "cells along one side" },
  endTime: { flag: "end-time", fallback: 20, min: 0.001, max: 10000, whole: false, about: "when to stop" },
  dt: { flag: "dt", fallback: null, min: 1e-6, max: 10, whole: false, about: "time step" },
  steady: {
    flag: "steady",
    fallback: 1e-6,
    min: 0,
    max: 1,
    whole: false,
    about: "residual of a steady flow",
  },
  checkpointEvery: {
    flag: "checkpoint-every",
    fallback: 100,
    min: 1,
    max: 1e9,
    whole: true,
    about: "steps between checkpoints",
  },
};

/** @returns {string} */
export function usage() {
  const numbers = Object.values(NUMBERS).map(
    ({ flag, fallback, min, max, about }) =>
      `  --${flag.padEnd(18)}${about}, ${min} to ${max} (default ${fallback ?? "chosen for the grid"})`,
  );
  return [
    "usage: node solver.mjs [options]",
    ...numbers,
    `  --${"out".padEnd(18)}folder for what is written (default: the current one)`,
    `  --${"restart".padEnd(18)}a checkpoint.json to go on from`,
    "A number can also come from the environment, as TAILRACE_ARG_ENDTIME and the like; the command line wins.",
  ].join("\n");
}

/**
 * @param {string[]} argv without node and the script
 * @param {Record<string, string | undefined>} env
 * @returns {Options | null} null: help was asked for
 */
export function readOptions(argv, env) {
  const flags = Object.values(NUMBERS).map((field) => [
    field.flag,
    { type: /** @type {const} */ ("string") },
  ]);
  const values = parse(argv, Object.fromEntries(flags));
  if (values.help === true) return null;
  /** @type {Set<string>} */
  const given = new Set();
  /** @param {keyof typeof NUMBERS} name */
  const number = (name) => {
    const field = NUMBERS[name];
    const variable = `TAILRACE_ARG_${name.toUpperCase()}`;
    const onLine = values[field.flag];
    const text = typeof onLine === "string" ? onLine : env[variable];
    if (text === undefined) return field.fallback;
    given.add(name);
    return parseNumber(text, field, typeof onLine === "string" ? `--${field.flag}` : variable);
  };
  return {
    reynolds: number("reynolds") ?? 0,
    grid: number("grid") ?? 0,
    endTime: number("endTime") ?? 0,
    dt: number("dt"),
    steady: number("steady") ?? 0,
    checkpointEvery: number("checkpointEvery") ?? 0,
    out: typeof values.out === "string" ? values.out : ".",
    restart: typeof values.restart === "string" ? values.restart : null,
    given,
  };
}

/**
 * @param {string[]} argv
 * @param {Record<string, { type: "string" }>} flags
 * @returns {Record<string, string | boolean | undefined>}
 */
function parse(argv, flags) {
  try {
    return parseArgs({
      args: argv,
      options: { ...flags, out: { type: "string" }, restart: { type: "string" }, help: { type: "boolean" } },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** @param {string} text @param {Field} field @param {string} name */
function parseNumber(text, { min, max, whole }, name) {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!(value >= min && value <= max) || (whole && !Number.isInteger(value))) {
    const kind = whole ? "a whole number" : "a number";
    throw new UsageError(`${name} must be ${kind} from ${min} to ${max}, not ${JSON.stringify(text)}`);
  }
  return value;
}
