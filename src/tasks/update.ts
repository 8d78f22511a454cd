import type { JsonObject } from "../domain/json.ts";
import type { Principal } from "../domain/principal.ts";
import { openInputs } from "../domain/task.ts";
import { type ChangeDeps, changeTask } from "./change.ts";

/** Hands answers to a task's open questions. Unknown and answered keys are ignored; questions left out stay open. */
export async function updateTask(
  deps: ChangeDeps,
  target: { readonly caller: Principal; readonly taskId: string },
  responses: JsonObject,
): Promise<void> {
  await changeTask(deps, target, (record, atMs) =>
    openInputs(record).flatMap(({ key }) => {
      const answer = Object.hasOwn(responses, key) ? responses[key] : undefined;
      return answer === undefined ? [] : [{ kind: "input_answered" as const, atMs, key, answer }];
    }),
  );
}
