const TASK_PART = /^tailrace:\/\/task\/([^/?#]+)\/(log|metrics)(?:\?([^#]*))?$/;

/** A part of a task that can be read as a resource. */
export type TaskPartUri = {
  readonly part: "log" | "metrics";
  readonly taskId: string;
  readonly query: URLSearchParams;
};

export function logUri(taskId: string): string {
  return `tailrace://task/${taskId}/log`;
}

export function artifactUri(taskId: string, name: string): string {
  return `tailrace://task/${taskId}/artifacts/${name.split("/").map(encodeURIComponent).join("/")}`;
}

export function metricsUri(taskId: string): string {
  return `tailrace://task/${taskId}/metrics`;
}

/** Null for anything but a task's log or metrics. */
export function parseTaskPartUri(uri: string): TaskPartUri | null {
  const [, taskId, part, query] = TASK_PART.exec(uri) ?? [];
  if (taskId === undefined || (part !== "log" && part !== "metrics")) return null;
  return { part, taskId, query: new URLSearchParams(query ?? "") };
}
