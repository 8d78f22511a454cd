import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Programs that stand before sbatch and do to the first attempt of a job what a bad day does. Later attempts pass. The
 * names below are shell text that runs with sbatch's arguments and its stdin in `$own/front.in`; `$own` is the job's own
 * directory.
 */
const FIRST_ATTEMPTS = {
  /** Within two seconds: perhaps before the request was sent. With every second one, sbatch alone is killed. */
  killedWhileItWaits: `sbatch "$@" <"$own/front.in" &
sleep "$(($$ / 10 % 2)).$(($$ % 10))"
kill -9 "$!"
[ "$(($$ % 2))" = 0 ] || kill -9 "$$"
wait "$!"
exit "$?"`,
  killedOnceAccepted: `sbatch "$@" <"$own/front.in" >/dev/null
kill -9 "$$"`,
  swallowed: `exec sbatch "$@" <"$own/front.in" >/dev/null`,
  /** The request is on its way for so long that the attempt has been given up when it arrives. */
  late: `setsid sh -c 'own=$1
shift
until [ -e "$own/claim.1" ] || [ ! -d "$own" ]; do sleep 0.05; done
exec sbatch "$@" <"$own/front.in"' late "$own" "$@" >/dev/null 2>&1 &
kill -9 "$$"`,
} as const;

/** Writes the program and answers its path. */
export function writeFront(dir: string, name: keyof typeof FIRST_ATTEMPTS): string {
  return writeProgram(join(dir, `sbatch-${name}`), FIRST_ATTEMPTS[name]);
}

/**
 * A front at which the first attempts of all jobs come to a stop, before or after sbatch was called: each leaves a file of
 * its job's name in `reached` and goes on once `opened` exists. `late` goes on once its attempt has been given up.
 */
export function writeGate(
  path: string,
  moment: "before" | "after" | "late",
  { reached, opened }: { readonly reached: string; readonly opened: string },
): string {
  const submit = `sbatch "$@" <"$own/front.in"`;
  const signIn = `: >"${reached}/$job"`;
  // The test's directory goes when the test has failed.
  const until = (file: string) => `until [ -e "${file}" ] || [ ! -d "$own" ]; do sleep 0.05; done`;
  const steps = {
    before: [signIn, until(opened), `exec ${submit}`],
    late: [signIn, until("$own/claim.1"), `exec ${submit}`],
    after: [`answer=$(${submit})`, signIn, until(opened), 'echo "$answer"'],
  }[moment];
  return writeProgram(path, steps.join("\n"));
}

function writeProgram(path: string, firstAttempt: string): string {
  const text = `#!/bin/sh
case " $* " in *" attempt 1 "*) ;; *) exec sbatch "$@" ;; esac
for word; do
  case $word in
    --chdir=*) own=\${word#--chdir=}/../.tailrace ;;
    --job-name=*) job=\${word#--job-name=} ;;
  esac
done
cat >"$own/front.in"
${firstAttempt}
`;
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}
