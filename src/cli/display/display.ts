import type { JsonObject } from "../../domain/json.ts";
import type { News } from "../client/follow.ts";

/** Shows a task's way while it is followed. */
export type Display = {
  news(news: News): void;
  /** The server is away and will be asked again. */
  away(why: string, inMs: number): void;
  /** Says something for a person beside the events. */
  note(text: string): void;
  /** Gives the terminal back. To be called before anything else is written. */
  stop(): void;
  /** The tasks/get result of a task that has ended. */
  result(task: JsonObject): void;
};

export function gapText(fromSeq: number, toSeq: number): string {
  const which = fromSeq === toSeq ? `event ${fromSeq} is` : `events ${fromSeq} to ${toSeq} are`;
  return `WARNING: ${which} missing: the server no longer keeps what came then`;
}
