import { type ConnectionOptions, Queue } from "bullmq";
import type { Logger } from "pino";
import { type DutyKind, parseDutyMember } from "../src/domain/duties.ts";

export const QUEUE_KINDS = ["submit", "watch", "follow", "cancel", "deliver", "upkeep"] as const;
export type QueueKind = (typeof QUEUE_KINDS)[number];

/** Queues are per target, so that a hung cluster starves nobody else. BullMQ allows no colon in a name. */
export function queueName(kind: QueueKind, target: string): string {
  return `${kind}.${target}`;
}

export type Hastener = {
  hasten(target: string, member: string): void;
  /** Settles the additions under way, then lets the queues go. */
  close(): Promise<void>;
};

/** What a processor needs to know; the record holds everything else. */
export type QueueJob = { readonly taskId: string; readonly key?: string };

/**
 * Puts duties into their queues. An addition that fails, or is swallowed because the same duty is being worked on, is
 * made up for by upkeep: the due-set holds it.
 */
export function createHastener(options: {
  readonly connection: ConnectionOptions;
  readonly prefix: string;
  readonly log: Logger;
}): Hastener {
  const queues = new Map<string, Queue<QueueJob>>();
  const pending = new Set<Promise<unknown>>();
  const queueOf = (kind: Exclude<DutyKind, "watch">, target: string): Queue<QueueJob> => {
    const name = queueName(kind, target);
    const known = queues.get(name);
    if (known !== undefined) return known;
    const queue = new Queue<QueueJob>(name, {
      connection: options.connection,
      prefix: options.prefix,
      skipVersionCheck: true,
      streams: { events: { maxLen: 1000 } },
    });
    queue.on("error", (err) => options.log.warn({ event: "queue.fault", queue: name, err }));
    queues.set(name, queue);
    return queue;
  };
  return {
    hasten(target, member) {
      const parsed = parseDutyMember(member);
      if (parsed === null || parsed.duty.kind === "watch") return;
      const { taskId, duty } = parsed;
      const { kind } = parsed.duty;
      const data = duty.kind === "deliver" ? { taskId, key: duty.key } : { taskId };
      const jobId = duty.kind === "deliver" ? `${taskId}.${encodeURIComponent(duty.key)}` : taskId;
      const added = queueOf(kind, target)
        .add(kind, data, { jobId, removeOnComplete: true, removeOnFail: true })
        .catch((err: unknown) =>
          options.log.warn({ event: "queue.add", queue: queueName(kind, target), err }),
        )
        .finally(() => pending.delete(added));
      pending.add(added);
    },
    async close() {
      await Promise.allSettled(pending);
      await Promise.allSettled([...queues.values()].map((queue) => queue.close()));
    },
  };
}
