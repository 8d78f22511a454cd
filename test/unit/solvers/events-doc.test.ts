import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { finishedEvent } from "../../../adapters/solvers/finished.ts";
import { SOLVER_NAMES, translatorFor } from "../../../adapters/solvers/translators.ts";
import type { JobEnd } from "../../../src/domain/adapter.ts";
import { type EventDraft, LIFECYCLE_EVENTS } from "../../../src/domain/event.ts";
import { linesOf, logBytes, logNames } from "../../support/solver-log.ts";

const DOC = readFileSync(new URL("../../../docs/events.md", import.meta.url), "utf8");

type Field = { readonly kind: string; readonly isAlways: boolean };

/** The tables under headings that name a type: fields by type. */
const documented = new Map(
  DOC.split(/^### /m)
    .slice(1)
    .map((section) => {
      const rows = [...section.matchAll(/^\| `(\w+)` +\| (\w+) +\| (always|sometimes) +\|$/gm)];
      const fields = rows.map(([, name = "", kind = "", when]): [string, Field] => {
        return [name, { kind, isAlways: when === "always" }];
      });
      return [/^`([\w.]+)`/.exec(section)?.[1] ?? "", new Map(fields)] as const;
    }),
);

const KINDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  number: (value) => typeof value === "number" && Number.isFinite(value),
  value: (value) => KINDS["number"]?.(value) === true || isNonfinite(value),
  quantity: (value) => hasOnly(value, ["value", "unit"]),
  pair: (value) => hasOnly(value, ["mean", "max"]),
  text: (value) => typeof value === "string",
  flag: (value) => typeof value === "boolean",
  list: (value) => Array.isArray(value),
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
};

function isNonfinite(value: unknown): boolean {
  return (
    hasOnly(value, ["nonfinite"]) && /^\{"nonfinite":"(nan|-?inf|overflow)"\}$/.test(JSON.stringify(value))
  );
}

function hasOnly(value: unknown, keys: readonly string[]): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.keys(value).sort().join() === [...keys].sort().join()
  );
}

const END: JobEnd = {
  kind: "signalled",
  exitCode: 1,
  signal: 8,
  reason: null,
  started: true,
  startedAtMs: null,
  endedAtMs: null,
  termAtMs: null,
  node: null,
  requeues: 0,
  coreSeconds: null,
  bytes: null,
  witness: "exit_record",
  settled: true,
};

/** What OpenFOAM also says, and no run of the collection did. */
const SAMPLE = "Starting time loop\nTime = 1\nPIMPLE: not converged within 5 iterations\n";

/** All that all translators say of all logs, with and without a declared total. */
function producedEvents(): EventDraft[] {
  const logs = ["openfoam", "synthetic", "traps", "progress"].flatMap((folder) => {
    return logNames(folder).map((name) => linesOf(logBytes(folder, name)));
  });
  logs.push(linesOf(new TextEncoder().encode(SAMPLE)));
  const totals = [
    { total: null, unit: null },
    { total: 1000, unit: "iteration" },
  ];
  return SOLVER_NAMES.flatMap((solver) => {
    const translator = translatorFor(solver);
    return totals.flatMap((options) => {
      return logs.flatMap((lines) => {
        const notes: EventDraft[] = [];
        let state = translator.start(options);
        for (const line of lines) {
          const step = translator.step(state, line);
          state = step.state;
          notes.push(...step.notes);
        }
        return [...notes, finishedEvent(END, translator.findings(state))];
      });
    });
  });
}

describe("docs/events.md", () => {
  const events = producedEvents();
  const seen = new Map<string, Map<string, number>>();
  const faults = new Set<string>();
  for (const { type, payload } of events) {
    const fields = documented.get(type);
    if (fields === undefined) {
      faults.add(`${type} is not documented`);
      continue;
    }
    const counts = seen.get(type) ?? new Map<string, number>();
    seen.set(type, counts);
    for (const [name, value] of Object.entries(payload)) {
      const field = fields.get(name);
      if (field === undefined) faults.add(`${type}.${name} is not documented`);
      else if (value !== null && KINDS[field.kind]?.(value) !== true) {
        faults.add(`${type}.${name} is no ${field.kind}: ${JSON.stringify(value)}`);
      }
      if (value !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    for (const [name, { isAlways }] of fields) {
      if (isAlways && (payload[name] ?? null) === null) faults.add(`${type}.${name} is not always there`);
    }
  }

  test("has every type and field that the logs come to, with its kind of value", () => {
    expect([...faults]).toEqual([]);
  });

  test("has nothing that no log comes to", () => {
    const idle = [...documented].flatMap(([type, fields]) => {
      return [...fields.keys()].flatMap((name) => (seen.get(type)?.has(name) ? [] : [`${type}.${name}`]));
    });
    expect(idle).toEqual([]);
  });

  test("has every event of a task's life", () => {
    const table = DOC.slice(DOC.indexOf("## The task's life"));
    const types = [...table.matchAll(/^\| (`[^|]+`) +\|/gm)].flatMap(([, cell = ""]) => {
      return [...cell.matchAll(/`([\w.]+)`/g)].map(([, type]) => type);
    });
    expect(types.sort()).toEqual([...LIFECYCLE_EVENTS].sort());
  });
});
