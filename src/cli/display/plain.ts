import type { Shell } from "../shell.ts";
import { type Display, gapText } from "./display.ts";
import { eventText } from "./event-line.ts";
import { resultLines } from "./result.ts";
import { jsonText, shown } from "./text.ts";

/** One line per event on stderr, so that stdout holds the result alone. */
export function createPlainDisplay(shell: Shell): Display {
  return {
    news(news) {
      if (news.kind === "gap") shell.tell(gapText(news.fromSeq, news.toSeq));
      else shell.tell(`#${news.event.seq}  ${eventText(news.event)}`);
    },
    away: (why, inMs) => shell.tell(awayText(why, inMs)),
    note: (text) => shell.tell(text),
    stop: () => undefined,
    result: (task) => shell.print(resultLines(task).join("\n")),
  };
}

/** One JSON object per line on stdout; the last one is the result. */
export function createJsonDisplay(shell: Shell): Display {
  const line = (value: object) => shell.print(jsonText(value));
  return {
    news(news) {
      if (news.kind === "gap") shell.tell(gapText(news.fromSeq, news.toSeq));
      line(news.kind === "gap" ? news : { kind: "event", ...news.event });
    },
    away: (why, inMs) => shell.tell(awayText(why, inMs)),
    note: (text) => shell.tell(text),
    stop: () => undefined,
    result: (task) => line({ kind: "result", task }),
  };
}

export function awayText(why: string, inMs: number): string {
  return `the server does not answer (${shown(why, 160)}); again in ${(inMs / 1000).toFixed(1)} s`;
}
