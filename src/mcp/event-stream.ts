import type { EventStream } from "../tasks/stream.ts";
import { META, type RequestId } from "./protocol.ts";
import type { SseStream } from "./sse.ts";

export type Delivery = {
  readonly id: RequestId;
  readonly taskId: string;
  readonly events: EventStream;
  /** JSON text of the final result. */
  readonly result: string;
  /** JSON-RPC error text for a fault in the middle. */
  readonly failure: (error: unknown) => string;
};

/** The stored text of an event with its envelope around it; nothing is parsed or serialised again. */
export function eventNotification(taskId: string, seq: number, text: string): string {
  return `{"jsonrpc":"2.0","method":"notifications/tasks/event","params":{"seq":${seq},"taskId":"${taskId}",${text},"_meta":{"${META.relatedTask}":{"taskId":"${taskId}"}}}}`;
}

export function resultText(id: RequestId, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

/** Sends events until the task has ended and all are out, or the reader leaves: that ends delivery only (S8). */
export async function deliver(sse: SseStream, delivery: Delivery): Promise<void> {
  const { events, id, taskId, result } = delivery;
  try {
    for (;;) {
      const batch = await events.next();
      if (batch === null) {
        sse.end(resultText(id, result));
        return;
      }
      const texts = batch.events.map((text, index) =>
        eventNotification(taskId, batch.firstSeq + index, text),
      );
      if (!(await sse.send(texts))) return;
    }
  } catch (error) {
    sse.end(delivery.failure(error));
  } finally {
    events.close();
  }
}
