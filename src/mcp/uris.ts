const LOG = /^tailrace:\/\/task\/([^/?#]+)\/log(?:\?([^#]*))?$/;

export type LogUri = { readonly taskId: string; readonly query: URLSearchParams };

export function logUri(taskId: string): string {
  return `tailrace://task/${taskId}/log`;
}

export function artifactUri(taskId: string, name: string): string {
  return `tailrace://task/${taskId}/artifacts/${name.split("/").map(encodeURIComponent).join("/")}`;
}

/** Null for anything but a task's log. */
export function parseLogUri(uri: string): LogUri | null {
  const [, taskId, query] = LOG.exec(uri) ?? [];
  return taskId === undefined ? null : { taskId, query: new URLSearchParams(query ?? "") };
}
