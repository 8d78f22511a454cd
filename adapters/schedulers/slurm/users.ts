import { userInfo } from "node:os";
import type { JobSpec } from "../../../src/domain/adapter.ts";
import type { CommandRunner } from "../shared/command-runner.ts";
import type { SlurmTarget } from "./target.ts";

/** A Unix account that jobs run under. */
export type Account = {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
};

export type Users = {
  /** Whose job this spec's is. A string says why nobody's. */
  accountFor(spec: JobSpec, signal: AbortSignal): Promise<Account | string>;
  /** Every user whose jobs may be ours. */
  readonly names: readonly string[];
  /** This process's own. */
  readonly own: Account;
};

const LOOKUP_MS = 10_000;

export function createUsers(config: SlurmTarget, run: CommandRunner): Users {
  const { username, uid, gid, homedir } = userInfo();
  const own: Account = { name: username, uid, gid, home: homedir };
  const map = config.runAs ?? {};
  const known = new Map<string, Account>(uid === 0 ? [] : [[own.name, own]]);
  const names = config.runAs === undefined ? [own.name] : [...new Set([own.name, ...Object.values(map)])];
  return {
    own,
    names,
    async accountFor(spec, signal) {
      if (config.runAs === undefined) return own;
      const caller = spec.caller ?? "";
      const name = (Object.hasOwn(map, caller) ? map[caller] : undefined) ?? map["*"];
      if (name === undefined)
        return `the caller ${JSON.stringify(caller)} has no user on this target: the operator can add one under runAs`;
      const found = known.get(name);
      if (found !== undefined) return found;
      if (uid !== 0) return "runAs needs a server that runs as root";
      const account = await lookUp(name, run, signal);
      if (typeof account !== "string") known.set(name, account);
      return account;
    },
  };
}

/** From the name service, as the nodes see it (LDAP, SSSD), not from /etc/passwd alone. */
async function lookUp(name: string, run: CommandRunner, signal: AbortSignal): Promise<Account | string> {
  const options = { timeoutMs: LOOKUP_MS, signal, maxBytes: 10_000 };
  const { exitCode, stdout } = await run(["getent", "passwd", name], options);
  const [, , uid, gid, , home] = stdout.trim().split(":");
  if (exitCode !== 0 || uid === undefined || gid === undefined || home === undefined)
    return `there is no Unix user ${name} here (runAs)`;
  if (!/^[1-9]\d*$/.test(uid)) return `runAs never runs jobs as root (${name})`;
  return { name, uid: Number(uid), gid: Number(gid), home };
}

/**
 * Becomes that user for one command. By real system calls: `sbatch --uid` alone leaves a job in root's groups (seen on
 * 22.05 and 26.05).
 */
export function asUser({ uid, gid }: Pick<Account, "uid" | "gid">): string[] {
  return ["setpriv", "--reuid", String(uid), "--regid", String(gid), "--init-groups", "--"];
}
