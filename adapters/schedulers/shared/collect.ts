import { createHash } from "node:crypto";
import { type FileHandle, realpath } from "node:fs/promises";
import { join } from "node:path";
import mime from "mime";
import type { Artifact, Collected, CollectRequest } from "../../../src/domain/adapter.ts";
import type { Json } from "../../../src/domain/json.ts";
import { errorCode } from "./atomic-file.ts";
import { parseGlobs } from "./globs.ts";
import { openInside } from "./open-inside.ts";
import { walk } from "./walk.ts";

/** Files over this size are listed without a hash: reading them would take minutes. */
const MAX_HASHED_BYTES = 4 * 1024 ** 3;
/** Lines about skipped files; beyond them only their number is told. */
const MAX_SKIPPED = 1000;
const MAX_RESULT_DEPTH = 100;

/**
 * Lists what a job left in `work`. At most `maxFiles` files and `maxBytes` bytes of them together, the first by name;
 * what did not fit is named in `skipped`. Globs that leave the directory throw.
 */
export async function collectOutputs(
  work: string,
  request: CollectRequest,
  signal: AbortSignal,
): Promise<Collected> {
  const globs = parseGlobs(request.outputs);
  const root = await realpath(work);
  const list = new Listing(request);
  for await (const found of walk(root, globs)) {
    signal.throwIfAborted();
    if (found.kind === "skipped") list.skip(found.name, found.reason);
    else await list.add(root, found.name, signal);
  }
  return {
    artifacts: list.artifacts,
    skipped: list.told(),
    ...(await readResult(root, request.maxResultBytes)),
  };
}

class Listing {
  readonly artifacts: Artifact[] = [];
  readonly #skipped: { name: string; reason: string }[] = [];
  readonly #limits: CollectRequest;
  #bytes = 0;
  #untold = 0;

  constructor(limits: CollectRequest) {
    this.#limits = limits;
  }

  skip(name: string, reason: string): void {
    if (this.#skipped.length < MAX_SKIPPED) this.#skipped.push({ name, reason });
    else this.#untold++;
  }

  told(): { name: string; reason: string }[] {
    if (this.#untold === 0) return this.#skipped;
    return [...this.#skipped, { name: "", reason: `${this.#untold} more beside these` }];
  }

  async add(root: string, name: string, signal: AbortSignal): Promise<void> {
    const { maxFiles, maxBytes } = this.#limits;
    if (this.artifacts.length >= maxFiles) return this.skip(name, `over the limit of ${maxFiles} files`);
    try {
      const file = await openInside(root, join(root, name));
      if ("refused" in file) return this.skip(name, file.refused);
      try {
        const { size } = await file.stat();
        if (this.#bytes + size > maxBytes)
          return this.skip(name, `${size} bytes, over the limit of ${maxBytes} bytes in all`);
        const { bytes, sha256 } = await measure(file, size, signal);
        this.#bytes += bytes;
        this.artifacts.push({ name, mediaType: mediaType(name), bytes, sha256 });
      } finally {
        await file.close();
      }
    } catch (error) {
      signal.throwIfAborted();
      this.skip(name, `unreadable (${errorCode(error) ?? "error"})`);
    }
    return undefined;
  }
}

/** Size and hash of the same bytes, even when something still writes to the file. */
async function measure(
  file: FileHandle,
  size: number,
  signal: AbortSignal,
): Promise<{ bytes: number; sha256: string | null }> {
  if (size > MAX_HASHED_BYTES) return { bytes: size, sha256: null };
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(Math.min(Math.max(size, 1), 256 * 1024));
  let bytes = 0;
  while (bytes < size) {
    signal.throwIfAborted();
    const wanted = Math.min(buffer.length, size - bytes);
    const { bytesRead } = await file.read(buffer, 0, wanted, bytes);
    if (bytesRead === 0) break;
    hash.update(buffer.subarray(0, bytesRead));
    bytes += bytesRead;
  }
  return { bytes, sha256: hash.digest("hex") };
}

function mediaType(name: string): string {
  return mime.getType(name) ?? "application/octet-stream";
}

async function readResult(
  root: string,
  maxBytes: number,
): Promise<{ result: Json; resultProblem: string | null }> {
  const problem = (text: string) => ({ result: null, resultProblem: `result.json: ${text}` });
  try {
    const file = await openInside(root, join(root, "result.json"));
    if ("refused" in file) return problem(file.refused);
    try {
      const { size } = await file.stat();
      if (size > maxBytes) return problem(`${size} bytes, over the limit of ${maxBytes}`);
      const buffer = Buffer.alloc(size);
      const { bytesRead } = await file.read(buffer, 0, size, 0);
      return { result: parseResult(buffer.subarray(0, bytesRead)), resultProblem: null };
    } finally {
      await file.close();
    }
  } catch (error) {
    if (errorCode(error) === "ENOENT") return { result: null, resultProblem: null };
    return problem(error instanceof Error ? error.message : String(error));
  }
}

function parseResult(bytes: Uint8Array): Json {
  const value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as Json;
  let level: Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_RESULT_DEPTH) throw new Error(`it is nested more than ${MAX_RESULT_DEPTH} deep`);
    level = level.flatMap((one) => (one !== null && typeof one === "object" ? Object.values(one) : []));
  }
  return value;
}
