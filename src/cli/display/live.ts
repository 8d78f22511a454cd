import { MultiBar, Presets, type SingleBar } from "cli-progress";
import pc from "picocolors";
import type { TaskEvent } from "../../domain/event.ts";
import { durationText } from "../../mcp/words.ts";
import type { Shell } from "../shell.ts";
import { type Display, gapText } from "./display.ts";
import { eventText, isNotable, progressText, residualText } from "./event-line.ts";
import { awayText } from "./plain.ts";
import { readProgress, readResiduals, shortType } from "./reading.ts";
import { resultLines } from "./result.ts";
import { shown } from "./text.ts";

const BAR_STEPS = 1000;
/** More series than this do not fit a line; the newest ones stay. */
const MAX_SERIES = 8;

/** A bar and one line with the newest residuals, redrawn in place; what is worth keeping scrolls by above them. */
export function createLiveDisplay(shell: Shell): Display {
  const bars = new MultiBar(
    {
      stream: shell.stderr,
      hideCursor: true,
      clearOnComplete: true,
      gracefulExit: false,
      linewrap: false,
      forceRedraw: true,
      barsize: 30,
      fps: 8,
    },
    Presets.shades_classic,
  );
  const startedMs = performance.now();
  const bar = bars.create(BAR_STEPS, 0, { text: "accepted" }, { format: "{bar} {text}" });
  const line = bars.create(1, 0, { text: "" }, { format: "{text}" });
  const residuals = new Map<string, string>();
  let isStopped = false;
  const say = (text: string) => {
    if (isStopped) shell.tell(text);
    else bars.log(`${text}\n`);
  };
  const stop = () => {
    isStopped = true;
    bars.stop();
  };
  return {
    news(news) {
      if (news.kind === "gap") return say(pc.red(gapText(news.fromSeq, news.toSeq)));
      const { event } = news;
      if (isNotable(event)) say(coloured(event));
      redraw(event, { bar, line, residuals, startedMs });
    },
    away: (why, inMs) => say(pc.yellow(awayText(why, inMs))),
    note: say,
    stop,
    result(task) {
      stop();
      shell.print(resultLines(task).join("\n"));
    },
  };
}

type Drawing = {
  readonly bar: SingleBar;
  readonly line: SingleBar;
  readonly residuals: Map<string, string>;
  readonly startedMs: number;
};

function redraw(event: TaskEvent, { bar, line, residuals, startedMs }: Drawing): void {
  const short = shortType(event.type);
  if (short === "solver.progress") {
    const { fraction } = readProgress(event.payload);
    bar.update(Math.round((fraction ?? 0) * BAR_STEPS), { text: progressText(event.payload) });
  } else if (short === "solver.residual" || short === "solver.timestep") {
    for (const [field, value] of readResiduals(event.payload)) {
      residuals.delete(field);
      residuals.set(field, value);
    }
    for (const field of [...residuals.keys()].slice(0, -MAX_SERIES)) residuals.delete(field);
    line.update(1, { text: residualText(residuals) });
  } else if (short.startsWith("job.") || short === "task.status") {
    bar.update({ text: shown(`${eventText(event)} · ${durationText(performance.now() - startedMs)}`, 120) });
  }
}

function coloured(event: TaskEvent): string {
  const text = `${pc.dim(`#${event.seq}`)}  ${eventText(event)}`;
  const short = shortType(event.type);
  if (short === "solver.diverged" || short === "job.killed") return pc.red(text);
  return short === "solver.warning" || short === "input.requested" ? pc.yellow(text) : text;
}
