/**
 * The bytes of an answer until it ends; throws the signal's reason when that comes first. fetch alone does not see to it:
 * with undici 6 (Node 20) and `redirect: "error"` a signal has no effect on a body any more once garbage was collected.
 */
export async function* readBody(response: Response, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const cancel = () => {
    // What breaks off here is what was to end.
    reader.cancel(signal.reason).catch(() => undefined);
  };
  signal.addEventListener("abort", cancel, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}

export async function readText(response: Response, signal: AbortSignal): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of readBody(response, signal)) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}
