import { type ClientOptions, followToEnd, openSession, withSession } from "./client/session.ts";
import { jsonText } from "./display/text.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import type { Shell } from "./shell.ts";
import { stopOnSignals } from "./signals.ts";

export type CancelOptions = ClientOptions & { readonly wait?: boolean };

/** Asks for a stop. The task goes on until its scheduler agrees: `--wait` waits for that. */
export async function cancelTask(taskId: string, options: CancelOptions, shell: Shell): Promise<ExitCode> {
  const stopping = stopOnSignals();
  const { signal } = stopping;
  const session = openSession(options, shell, { signal, isLive: options.wait === true });
  try {
    return await withSession(session, async () => {
      const { client, greet } = session;
      await greet.insist(() => client.request("tasks/cancel", { taskId }, { signal }));
      if (options.wait !== true) {
        session.display.stop();
        if (options.json === true) shell.print(jsonText({ kind: "cancel_requested", taskId }));
        else shell.print("cancel requested; the job stops when its scheduler agrees");
        return EXIT.ok;
      }
      // A task that was cancelled came to what was asked for.
      return await followToEnd(session, { taskId, after: null }, (task) => task["status"] === "cancelled");
    });
  } catch (error) {
    if (!signal.aborted) throw error;
    session.display.stop();
    return EXIT.interrupted;
  } finally {
    stopping.release();
  }
}
