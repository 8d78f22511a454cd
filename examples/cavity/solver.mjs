import { once } from "node:events";
import { join, resolve } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { readCheckpoint, writeCheckpoint, writeFields, writeWhole } from "./files.mjs";
import { createFlow, createStepper } from "./flow.mjs";
import { readOptions, UsageError, usage } from "./options.mjs";
import { centrelines, extreme, vortexCentre } from "./profiles.mjs";
import { banner, shown, stepText } from "./report.mjs";

/** @typedef {import("./flow.mjs").Flow} Flow */
/** @typedef {import("./flow.mjs").StepReport} StepReport */
/** @typedef {import("./options.mjs").Options} Options */
/** @typedef {{ kind: "finished" | "converged" | "diverged" } | { kind: "stopped", signal: string }} Ending */

/** What a shell calls the exit of a program that one of these signals ended. */
const STOP_STATUS = /** @type {Record<string, number>} */ ({ SIGTERM: 143, SIGINT: 130 });
/** Cells that the lid's speed may cross in a step: advection is explicit, and only viscosity damps what it excites. */
const COURANT = { viscous: 1, thin: 0.5, limitReynolds: 200 };

/** @param {Options} options @returns {Flow} */
function openFlow({ reynolds, grid, endTime, dt, restart, given }) {
  if (restart === null) {
    const courant = reynolds <= COURANT.limitReynolds ? COURANT.viscous : COURANT.thin;
    const steps = Math.ceil(endTime / (dt ?? courant / grid) - 1e-9);
    return createFlow({ n: grid, reynolds, dt: endTime / steps });
  }
  const flow = readCheckpoint(restart);
  const differs = [
    given.has("reynolds") && reynolds !== flow.reynolds ? `Reynolds number ${flow.reynolds}` : "",
    given.has("grid") && grid !== flow.n ? `grid ${flow.n}` : "",
    given.has("dt") ? `time step ${flow.dt}` : "",
  ].filter((text) => text !== "");
  if (differs.length > 0)
    throw new UsageError(`${restart} fixes ${differs.join(", ")}: leave that option out`);
  return flow;
}

/** @param {Options} options */
async function run(options) {
  const flow = openFlow(options);
  const folder = resolve(options.out);
  /** @type {{ signal: string | null }} */
  const stop = { signal: null };
  for (const signal of Object.keys(STOP_STATUS)) process.on(signal, () => (stop.signal ??= signal));
  await print(banner(flow, { argv: process.argv.slice(2), folder, endTime: options.endTime }));
  const { ending, last } = await march(flow, { options, folder, stop });
  await finish(flow, { ending, last, folder });
}

/**
 * @param {Flow} flow
 * @param {{ options: Options, folder: string, stop: { signal: string | null } }} run
 * @returns {Promise<{ ending: Ending, last: StepReport | null }>}
 */
async function march(flow, { options, folder, stop }) {
  const advance = createStepper(flow);
  const steps = Math.ceil(options.endTime / flow.dt - 1e-6);
  /** @type {StepReport | null} */
  let last = null;
  while (flow.step < steps) {
    // Signals are heard between two turns of the event loop.
    await nextTurn();
    if (stop.signal !== null) return { ending: { kind: "stopped", signal: stop.signal }, last };
    last = advance();
    await print(stepText(flow.step * flow.dt, last));
    if (!last.finite) return { ending: { kind: "diverged" }, last };
    if (isSteady(last, options.steady)) return { ending: { kind: "converged" }, last };
    if (flow.step % options.checkpointEvery === 0) writeCheckpoint(folder, flow);
  }
  return { ending: { kind: "finished" }, last };
}

/** @param {StepReport} report @param {number} limit */
function isSteady({ solves }, limit) {
  return Object.values(solves).every(({ initial }) => initial < limit);
}

/**
 * @param {Flow} flow
 * @param {{ ending: Ending, last: StepReport | null, folder: string }} end
 */
async function finish(flow, { ending, last, folder }) {
  const time = shown(flow.step * flow.dt);
  if (ending.kind === "diverged") {
    // The last checkpoint and earlier fields stay: nan is nothing to go on from.
    writeResult(folder, flow, { ending, last });
    process.stderr.write(
      `cavity: diverged at time ${time}, step ${flow.step}: the solution is not finite. ` +
        `Try a smaller --dt than ${shown(flow.dt)} or a finer grid.\n`,
    );
    process.exitCode = 1;
    return;
  }
  writeFields(folder, flow, centrelines(flow));
  writeCheckpoint(folder, flow);
  writeResult(folder, flow, { ending, last });
  if (ending.kind === "stopped") {
    await print(`Stopped by ${ending.signal} at time ${time}: fields, checkpoint and result are written\n`);
    process.exitCode = STOP_STATUS[ending.signal];
    return;
  }
  if (ending.kind === "converged")
    await print(`\nPROJECTION solution converged in ${flow.step} iterations\n\n`);
  await print("End\n\n");
}

/**
 * @param {string} folder
 * @param {Flow} flow
 * @param {{ ending: Ending, last: StepReport | null }} end
 */
function writeResult(folder, flow, { ending, last }) {
  const finite = ending.kind !== "diverged";
  const profiles = centrelines(flow);
  const residuals =
    last === null || !finite
      ? null
      : Object.fromEntries(Object.entries(last.solves).map(([field, { initial }]) => [field, initial]));
  const result = {
    reynolds: flow.reynolds,
    grid: flow.n,
    dt: flow.dt,
    steps: flow.step,
    finalTime: flow.step * flow.dt,
    converged: ending.kind === "converged",
    diverged: ending.kind === "diverged",
    stopped: ending.kind === "stopped",
    residuals,
    continuityError: finite ? (last?.continuity.local ?? null) : null,
    vortexCentre: finite ? vortexCentre(flow) : null,
    uMin: finite ? extreme(profiles.u, 1) : null,
    vMin: finite ? extreme(profiles.v, 1) : null,
    vMax: finite ? extreme(profiles.v, -1) : null,
  };
  writeWhole(join(folder, "result.json"), `${JSON.stringify(result, null, 2)}\n`);
}

/** Waits for a slow reader rather than hold the log in memory. @param {string} text */
async function print(text) {
  if (!process.stdout.write(text)) await once(process.stdout, "drain");
}

process.stdout.on("error", (error) => {
  process.stderr.write(`cavity: cannot write the log: ${error.message}\n`);
  process.exit(1);
});

try {
  const options = readOptions(process.argv.slice(2), process.env);
  if (options === null) await print(`${usage()}\n`);
  else await run(options);
} catch (error) {
  const isUsage = error instanceof UsageError;
  const why = error instanceof Error ? error.message : String(error);
  process.stderr.write(`cavity: ${why}\n${isUsage ? `${usage()}\n` : ""}`);
  process.exitCode = isUsage ? 2 : 1;
}
