/** @typedef {import("./flow.mjs").Flow} Flow */
/** @typedef {import("./flow.mjs").StepReport} StepReport */
/** @typedef {import("./linear.mjs").Solve} Solve */

/**
 * A number as C's %g prints it, with six digits.
 *
 * @param {number} value
 * @returns {string}
 */
export function shown(value) {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const [digits, exponent] = value.toExponential(5).split("e");
  const power = Number(exponent);
  if (value === 0 || (power >= -5 && power < 6)) return String(Number(value.toPrecision(6)));
  return `${Number(digits)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/**
 * @param {Flow} flow
 * @param {{ argv: readonly string[], folder: string, endTime: number }} run
 * @returns {string}
 */
export function banner({ n, reynolds, dt, step }, { argv, folder, endTime }) {
  const begin = step === 0 ? "Fluid at rest" : `Going on after step ${step}`;
  return `\
/*---------------------------------------------------------------------------*\\
| Tailrace example: lid-driven cavity, a small Navier-Stokes solver in Node   |
| It prints its log in the line shapes of a well-known CFD toolbox            |
\\*---------------------------------------------------------------------------*/
Build  : tailrace-cavity
Exec   : solver.mjs${argv.map((word) => ` ${printable(word)}`).join("")}
PID    : ${process.pid}
Case   : ${printable(folder)}
nProcs : 1

Grid ${n} x ${n}, Reynolds number ${shown(reynolds)}, time step ${shown(dt)}, end time ${shown(endTime)}
${begin}

Starting time loop

`;
}

/** An argument must not be able to write a line of its own. @param {string} text */
function printable(text) {
  return text.replace(/[^ -~]/g, "?");
}

/**
 * @param {number} time
 * @param {StepReport} report
 * @returns {string}
 */
export function stepText(time, { courant, solves, continuity }) {
  return `\
Time = ${shown(time)}

Courant Number mean: ${shown(courant.mean)} max: ${shown(courant.max)}
${solveLine("Ux", solves.Ux)}
${solveLine("Uy", solves.Uy)}
${solveLine("p", solves.p)}
time step continuity errors : sum local = ${shown(continuity.local)}, \
global = ${shown(continuity.global)}, cumulative = ${shown(continuity.cumulative)}
ExecutionTime = ${cpuSeconds()} s  ClockTime = ${Math.round(process.uptime())} s

`;
}

/** @param {string} field @param {Solve} one */
function solveLine(field, { initial, final, iterations }) {
  return `ICPCG:  Solving for ${field}, Initial residual = ${shown(initial)}, Final residual = ${shown(final)}, \
No Iterations ${iterations}`;
}

function cpuSeconds() {
  const { user, system } = process.cpuUsage();
  return Number(((user + system) / 1e6).toFixed(2));
}
