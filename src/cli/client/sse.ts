import { createParser } from "eventsource-parser";

/** A message of ours is at most some tens of kilobytes; a result with many artifacts may be larger. */
const MAX_MESSAGE_CHARACTERS = 16 * 1024 * 1024;

/** The data of each message of an event stream, as it comes. Comments are seen as bytes only: `onBytes`. */
export async function* readSse(body: AsyncIterable<Uint8Array>, onBytes: () => void): AsyncGenerator<string> {
  const ready: string[] = [];
  let fault: Error | null = null;
  const parser = createParser({
    maxBufferSize: MAX_MESSAGE_CHARACTERS,
    onEvent: ({ data }) => void ready.push(data),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") fault = error;
    },
  });
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    onBytes();
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (fault !== null) throw fault;
    yield* ready.splice(0);
  }
}
