import { chmod, chown, stat } from "node:fs/promises";
import { join } from "node:path";
import { BridgeError } from "../../../src/domain/errors.ts";
import type { Json } from "../../../src/domain/json.ts";
import { deliverTo } from "../shared/job-access.ts";
import { inputFileName, type JobLayout } from "../shared/job-layout.ts";
import type { SlurmRoom } from "./room.ts";
import { type Account, asUser } from "./users.ts";

/**
 * Gives a job's directory to the user whose job it is. The one above its parts stays ours, and its group may pass
 * through: nobody can put a link in the place of a part.
 */
export async function handOver(
  room: SlurmRoom,
  layout: JobLayout,
  account: Account,
  signal: AbortSignal,
): Promise<void> {
  const { own } = room.users;
  if (account.uid === own.uid) return;
  const owner = `${account.uid}:${account.gid}`;
  const give = ["chown", "-hR", owner, "--", layout.own, layout.work];
  const { exitCode, stderr } = await room.run(give, { timeoutMs: 60_000, signal, maxBytes: 10_000 });
  if (exitCode !== 0)
    throw new BridgeError(
      "unreachable",
      room.target,
      `target ${room.target}: the job's directory cannot be given to ${account.name}: ${stderr.trim()}`,
    );
  await chown(layout.root, own.uid, account.gid);
  await chmod(layout.root, 0o710);
}

/** Writes an answer with the rights of the job's user, so that whatever he made of the directory binds him alone. */
const WRITE = `umask 077
mkdir -p "$1" && cat > "$1/.$2.new" && mv -f "$1/.$2.new" "$1/$2"`;

export async function deliverAsOwner(
  room: SlurmRoom,
  layout: JobLayout | null,
  answer: { readonly key: string; readonly value: Json },
  signal: AbortSignal,
): Promise<void> {
  const { key, value } = answer;
  const owner = layout === null ? null : await stat(layout.own);
  if (layout === null || owner === null || owner.uid === room.users.own.uid)
    return deliverTo(layout, key, value);
  const { uid, gid } = owner;
  const argv = ["sh", "-c", WRITE, "sh", layout.input, inputFileName(key)];
  const options = { timeoutMs: 30_000, signal, maxBytes: 10_000, stdin: `${JSON.stringify(value)}\n` };
  const { exitCode, stderr } = await room.run([...asUser({ uid, gid }), ...argv], options);
  if (exitCode === 0) return;
  throw new BridgeError(
    "unreachable",
    room.target,
    `target ${room.target}: ${join(layout.input, inputFileName(key))} cannot be written: ${stderr.trim()}`,
  );
}
