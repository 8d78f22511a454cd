import type { Json, JsonObject } from "../../src/domain/json.ts";
import type { History, HistoryFactory, Note } from "../../src/domain/translator.ts";
import { createLineFramer, type LineFramer } from "./lines.ts";
import { translatorFor } from "./translators.ts";

/** Rows of all series together. Beyond, every second row of each goes, as often as it takes. */
const MAX_ROWS = 60_000;
const MAX_SERIES = 512;

type Series = { readonly head: JsonObject; rows: Json[][]; newest: Json[]; seen: number };

/** A log's residuals and metrics at full resolution, without events: what the metrics resource shows. */
export const createHistory: HistoryFactory = ({ solver, total, unit, only }) => {
  const translator = translatorFor(solver);
  const all = { residuals: new Map<string, Series>(), metrics: new Map<string, Series>() };
  const place: { step: Json; time: Json; timeUnit: Json } = { step: null, time: null, timeUnit: null };
  const framers = new Map<string, LineFramer>();
  let state = translator.start({ total, unit });
  let stride = 1;
  let rows = 0;

  const thin = () => {
    stride *= 2;
    rows = 0;
    for (const series of [...all.residuals.values(), ...all.metrics.values()]) {
      series.rows = series.rows.filter((_, index) => index % 2 === 0);
      rows += series.rows.length;
    }
  };
  const add = (into: Map<string, Series>, key: string, { head, row }: { head: JsonObject; row: Json[] }) => {
    const series = into.get(key) ?? { head, rows: [], newest: row, seen: 0 };
    if (into.size >= MAX_SERIES && !into.has(key)) return;
    into.set(key, series);
    series.newest = row;
    if (series.seen % stride === 0) {
      series.rows.push(row);
      rows += 1;
    }
    series.seen += 1;
    if (rows > MAX_ROWS) thin();
  };
  const note = ({ type, payload, series }: Note) => {
    if (type === "solver.timestep") Object.assign(place, placeOf(payload["index"], payload["time"]));
    else if (type === "solver.residual") {
      if (payload["time"] !== undefined) Object.assign(place, placeOf(payload["step"], payload["time"]));
      if (only !== null && payload["field"] !== only) return;
      const row = [place.step, place.time, payload["value"] ?? null, payload["final"] ?? null];
      add(all.residuals, series ?? "", {
        head: headOf(payload, ["field", "region", "corrector", "scale", "norm"]),
        row,
      });
    } else if (type === "solver.metric") {
      if (only !== null && payload["name"] !== only) return;
      const row = [place.step, place.time, payload["value"] ?? null];
      add(all.metrics, series ?? "", { head: headOf(payload, ["name", "region", "unit", "kind"]), row });
    }
  };

  const history: History = {
    feed(source, bytes, { isEnd }) {
      const framer = framers.get(source) ?? createLineFramer(source);
      framers.set(source, framer);
      for (const line of [...framer.feed(bytes), ...(isEnd ? framer.flush() : [])]) {
        const next = translator.step(state, line);
        state = next.state;
        next.notes.forEach(note);
      }
    },
    toJson: () => ({
      stride,
      timeUnit: place.timeUnit,
      residuals: tables(all.residuals, ["step", "time", "initial", "final"]),
      metrics: tables(all.metrics, ["step", "time", "value"]),
    }),
  };
  return history;
};

/** `time` is a number, or `{value, unit}`. */
function placeOf(step: Json | undefined, time: Json | undefined) {
  const isQuantity = typeof time === "object" && time !== null && !Array.isArray(time);
  return {
    step: step ?? null,
    time: isQuantity ? (time["value"] ?? null) : (time ?? null),
    ...(isQuantity ? { timeUnit: time["unit"] ?? null } : {}),
  };
}

function headOf(payload: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = payload[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** The newest row is there whatever the stride. */
function tables(series: ReadonlyMap<string, Series>, columns: string[]): Json[] {
  return [...series.values()].map(({ head, rows, newest }) => ({
    ...head,
    columns,
    rows: rows.at(-1) === newest ? rows : [...rows, newest],
  }));
}
