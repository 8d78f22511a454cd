import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const CLI = fileURLToPath(new URL("../../dist/src/cli.js", import.meta.url));

export type PrintedEvent = { readonly type: string; readonly payload: Record<string, unknown> };
type Translated = { readonly code: number; readonly events: readonly PrintedEvent[]; readonly said: string };

/** Runs `tailrace translate` as a process of its own. */
export async function translate(args: readonly string[], stdin?: string | Uint8Array): Promise<Translated> {
  const child = spawn(process.execPath, [CLI, "translate", ...args], { stdio: "pipe" });
  child.stdin.end(stdin);
  const read = async (stream: AsyncIterable<Buffer>) => {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };
  const exited = once(child, "exit");
  const [output, said] = await Promise.all([read(child.stdout), read(child.stderr)]);
  const [code] = await exited;
  const events = output.split("\n").filter(Boolean);
  return { code: Number(code), events: events.map((line): PrintedEvent => JSON.parse(line)), said };
}
