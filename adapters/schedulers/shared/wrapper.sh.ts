/** Files that the wrapper makes in `.tailrace/`, for those who read them. */
export const WRAPPER_FILES = {
  claim: (attempt: number) => `claim.${attempt}`,
  life: (life: number) => `life.${life}.json`,
  exit: (life: number) => `exit.${life}.json`,
} as const;

/** The variable by which a job's processes are known, whatever session or group they moved to. Holds the job's directory. */
export const COOKIE = "TAILRACE_TASK_DIR";

/** The variable that marks the wrapper's own timers: they are no part of the job and end with it. */
export const TIMER_COOKIE = "TAILRACE_TIMER_OF";

/**
 * The job's wrapper: plain POSIX sh, safe under `set -u`, for dash, busybox and bash alike.
 *
 * `sh wrapper DIR ATTEMPT IDENTITY WALLTIME GRACE`. DIR is the job's directory. IDENTITY names the scheduler's job; the
 * word `process` stands for this very process (`local:pid:start ticks:boot id`). WALLTIME and GRACE are seconds, 0 for
 * never: Slurm and Kubernetes bring their own.
 *
 * It takes `claim.ATTEMPT`, runs `.tailrace/run` in `work/`, passes signals on, and writes `exit.LIFE.json`. Signal
 * handlers use builtins alone: any other command would reap the job's status behind `wait`'s back.
 */
export const WRAPPER = String.raw`#!/bin/sh
set -u
PATH=${"$"}{PATH:-/usr/local/bin:/usr/bin:/bin}
tr_task=${"$"}{1:-} tr_attempt=${"$"}{2:-} tr_identity=${"$"}{3:-} tr_walltime=${"$"}{4:-0} tr_grace=${"$"}{5:-0}
tr_dir=$tr_task/.tailrace
tr_pid= tr_got= tr_timer= tr_term=null tr_stopping= tr_killed= tr_reaped= tr_timed=false tr_signals= tr_noted=0

tr_fail() {
  printf 'tailrace: %s\n' "$2" >&2
  printf '%s\n' "$2" 2>/dev/null >"$tr_dir/problem.$tr_attempt"
  exit "$1"
}
tr_kill() {
  kill "-$1" "-$tr_pid" 2>/dev/null || [ -n "$tr_reaped" ] || kill "-$1" "$tr_pid" 2>/dev/null
}
# Sets tr_at to the time in ms, with builtins alone where /proc is there.
tr_stamp() {
  tr_up=
  [ ! -r /proc/uptime ] || read -r tr_up tr_rest </proc/uptime
  if [ -n "$tr_up" ]; then
    tr_at=$((tr_base + ${"$"}{tr_up%.*} * 1000 + (1${"$"}{tr_up#*.} - 100) * 10))
  else
    tr_now
    tr_at=$tr_ms
  fi
}
tr_stop() {
  [ -z "$tr_stopping" ] || return 0
  tr_stopping=1
  tr_set_timer "$tr_grace"
}
tr_on() {
  tr_got=1 tr_late=$tr_reaped
  [ -z "$tr_pid" ] || kill -0 "$tr_pid" 2>/dev/null || tr_late=1
  [ -z "$tr_pid" ] || tr_kill "$1"
  tr_stamp
  tr_noted=$((tr_noted + 1))
  [ "$tr_noted" -gt 40 ] || tr_signals="$tr_signals,{\"name\":\"$1\",\"atMs\":$tr_at}"
  [ "$1" = TERM ] || return 0
  # Once the script has ended by itself, a stop came too late to be its cause.
  [ "$tr_term" != null ] || [ -n "$tr_late" ] || tr_term=$tr_at
  [ -z "$tr_pid" ] || tr_kill CONT
  tr_stop
}
tr_ring() {
  tr_got=1
  [ -n "$tr_pid" ] || return 0
  if [ -n "$tr_stopping$tr_reaped" ]; then
    tr_killed=1
    tr_kill KILL
  else
    tr_timed=true
    tr_kill TERM
    tr_kill CONT
    tr_stop
  fi
}
tr_now() {
  tr_ms=$(date +%s%3N 2>/dev/null)
  case $tr_ms in '' | *[!0-9]*) tr_ms=$(date +%s)000 ;; esac
}
tr_ticks() {
  tr_found=
  [ -r "/proc/$1/stat" ] || return 0
  { read -r tr_line <"/proc/$1/stat"; } 2>/dev/null || return 0
  set -- ${"$"}{tr_line##*) }
  tr_found=${"$"}{20:-}
}
tr_nap() { sleep 0.1 2>/dev/null || sleep 1; }

# Rings this shell, and only this shell, after so many seconds and then each second: one ring may come too early for wait.
tr_set_timer() {
  tr_stop_timer
  case $1 in 0 | 0.0) return 0 ;; esac
  (
    tr_over= tr_sleep= tr_next=$1
    trap 'tr_over=1; [ -z "$tr_sleep" ] || kill -KILL "$tr_sleep" 2>/dev/null' TERM
    while :; do
      ${TIMER_COOKIE}="$tr_task" sleep "$tr_next" &
      tr_sleep=$!
      [ -z "$tr_over" ] || kill -KILL "$tr_sleep"
      wait "$tr_sleep" || exit 0
      [ -z "$tr_over" ] || exit 0
      tr_ticks "$$"
      [ "${"$"}{tr_found:-0}" = "$tr_mine" ] && kill -ALRM "$$" || exit 0
      tr_next=1
    done
  ) </dev/null >/dev/null 2>&1 9>&- &
  tr_timer=$!
}
tr_stop_timer() {
  [ -z "$tr_timer" ] || kill -TERM "$tr_timer" 2>/dev/null
  tr_timer=
}

tr_mine=0 tr_base=0
tr_ticks "$$"
tr_mine=${"$"}{tr_found:-0}
tr_now
tr_base=$tr_ms
tr_stamp
[ -z "$tr_up" ] || tr_base=$((tr_base - (tr_at - tr_base)))
trap 'tr_on TERM' TERM
trap 'tr_on INT' INT
trap 'tr_on HUP' HUP
trap 'tr_on USR1' USR1
trap 'tr_on USR2' USR2
trap tr_ring ALRM

case $tr_task in
/*) ;;
*) tr_fail 64 'the job directory is not an absolute path' ;;
esac
case $tr_task in *'
'*) tr_fail 64 'the job directory has a line break in its name' ;; esac
cd "$tr_dir" || exit 73

tr_boot=none
[ ! -r /proc/sys/kernel/random/boot_id ] || read -r tr_boot </proc/sys/kernel/random/boot_id
[ "$tr_identity" != process ] || tr_identity=local:$$:$tr_mine:$tr_boot
case $tr_identity in '' | *[!A-Za-z0-9:._-]*) tr_fail 64 'the job identity is empty or has odd characters' ;; esac
case $tr_attempt in '' | *[!0-9]*) tr_fail 64 'the attempt is not a number' ;; esac
tr_own=$$.$tr_mine

# Room for the records is taken now, so that a disk that fills up later cannot lose them.
tr_spare() {
  printf '%4096s' '' 2>/dev/null >"$1" && [ "$(wc -c <"$1")" -eq 4096 ]
}
tr_drop() { rm -f "claimant.$tr_own" "spare.$tr_own.a" "spare.$tr_own.b" "spare.$tr_own.c"; }
if ! tr_spare "spare.$tr_own.a" || ! tr_spare "spare.$tr_own.b" || ! tr_spare "spare.$tr_own.c"; then
  tr_drop
  tr_fail 73 'the job directory cannot be written to (is the disk full?)'
fi

# The claim counts by what it says: over NFS, ln may fail after it has worked, and the reverse.
printf '%s\n' "$tr_identity" 2>/dev/null >"claimant.$tr_own"
read -r tr_said <"claimant.$tr_own" || tr_said=
if [ "$tr_said" != "$tr_identity" ]; then
  tr_drop
  tr_fail 73 'the claim cannot be written (is the disk full?)'
fi
ln "claimant.$tr_own" "claim.$tr_attempt" 2>/dev/null
tr_holder=
[ ! -r "claim.$tr_attempt" ] || read -r tr_holder <"claim.$tr_attempt" || tr_holder=
if [ "$tr_holder" != "$tr_identity" ]; then
  tr_drop
  [ -n "$tr_holder" ] || tr_fail 73 'the claim cannot be taken (does this file system have hard links?)'
  printf '%s\n' "$tr_holder" >"dup.$tr_identity"
  exit 76
fi

tr_life=0
while [ -e "life.$tr_life.json" ]; do tr_life=$((tr_life + 1)); done
tr_exit=exit.$tr_life.json
mv -f "spare.$tr_own.a" "$tr_exit"
mv -f "spare.$tr_own.b" "spare.$tr_life"
mv -f "spare.$tr_own.c" "life.$tr_life.json"
rm -f "claimant.$tr_own"
tr_now
tr_start=$tr_ms tr_script=null
tr_host=$(uname -n)
case $tr_host in *[!A-Za-z0-9._-]*) tr_host=unknown ;; esac
tr_record_life() {
  tr_text=$(printf '{"version":1,"life":%s,"attempt":%s,"identity":"%s","host":"%s","startedAtMs":%s,"script":%s}' \
    "$tr_life" "$tr_attempt" "$tr_identity" "$tr_host" "$tr_start" "$tr_script")
  printf '%s\n' "$tr_text" 2>/dev/null >life.new
  if [ -s life.new ]; then
    mv -f life.new "life.$tr_life.json"
  else
    printf '%s' "$tr_text" 1<>"life.$tr_life.json"
  fi
}
tr_record_life

# Signals every process of the job, also those that left its session: they carry the job's directory in their environment.
tr_sweep() {
  tr_swept=
  [ -r /proc/self/environ ] || return 0
  for tr_f in $(${COOKIE}= grep -lF "${COOKIE}=$tr_task" /proc/[0-9]*/environ 2>/dev/null); do
    tr_p=${"$"}{tr_f#/proc/}
    tr_p=${"$"}{tr_p%/environ}
    [ "$tr_p" != "$$" ] || continue
    kill "-$1" "$tr_p" 2>/dev/null && tr_swept=1
  done
}

# True while the job's group has a member that is more than a zombie: in a container nobody may reap those.
tr_left() {
  [ -n "$tr_setsid" ] && kill -0 "-$tr_pid" 2>/dev/null || return 1
  [ -r /proc/self/stat ] || return 0
  for tr_f in /proc/[0-9]*/stat; do
    { read -r tr_line <"$tr_f"; } 2>/dev/null || continue
    set -- ${"$"}{tr_line##*) }
    [ "${"$"}{3:-}" != "$tr_pid" ] || [ "$1" = Z ] || return 0
  done
  return 1
}

tr_rc=0 tr_ran=false tr_setsid= tr_env=
if [ "$tr_term" = null ]; then
  tr_ran=true
  command -v setsid >/dev/null 2>&1 && tr_setsid=setsid
  # A shell's background children ignore INT and QUIT; the job should not.
  env --default-signal=INT,QUIT true 2>/dev/null && tr_env='env --default-signal=INT,QUIT'
  $tr_setsid $tr_env sh "$tr_dir/run" "$tr_task" </dev/null >>"$tr_dir/stdout" 2>>"$tr_dir/stderr" 9>&- &
  tr_pid=$!
  # A TERM that came just before the line above has reached nobody yet.
  [ "$tr_term" = null ] || tr_kill TERM
  tr_ticks "$tr_pid"
  tr_script="{\"pid\":$tr_pid,\"ticks\":\"$tr_found\"}"
  tr_record_life
  [ -n "$tr_stopping" ] || tr_set_timer "$tr_walltime"
  while :; do
    tr_got=
    wait "$tr_pid"
    tr_rc=$?
    # Without a handler's mark it was no interruption. With one, a job that is still there is waited for again. One that
    # is gone was either reaped behind our back, and the shell still knows its status, or told already (127 then).
    [ -n "$tr_got" ] || break
    if kill -0 "$tr_pid" 2>/dev/null; then
      [ -z "$tr_killed" ] || tr_sweep KILL
      continue
    fi
    tr_told=$tr_rc
    wait "$tr_pid"
    tr_rc=$?
    [ "$tr_rc" = 127 ] || break
    # What was told before may be the ring that came with our KILL.
    tr_rc=$tr_told
    [ -z "$tr_killed" ] || [ "$tr_rc" -le 128 ] || tr_rc=137
    break
  done
  tr_reaped=1

  # What the job left behind has 2 s to finish (a tee may still write), after a stop the grace. Then it is killed.
  tr_tries=20
  while [ "$tr_tries" -gt 0 ] && tr_left; do
    [ -n "$tr_stopping" ] && [ -n "$tr_timer" ] && [ -z "$tr_killed" ] || tr_tries=$((tr_tries - 1))
    tr_nap
  done
  tr_stop_timer
  kill -KILL "-$tr_pid" 2>/dev/null
  tr_tries=20
  tr_sweep KILL
  while [ -n "$tr_swept" ] && [ "$tr_tries" -gt 0 ]; do
    tr_tries=$((tr_tries - 1))
    tr_nap
    tr_sweep KILL
  done
  tr_pid=
fi
tr_stop_timer

tr_size() {
  tr_bytes=0
  [ ! -f "$1" ] || tr_bytes=$(($(wc -c <"$1")))
}
tr_code=$tr_rc tr_signal=null
if [ "$tr_ran" = false ]; then
  tr_code=null
elif [ "$tr_rc" -gt 128 ] && [ "$tr_rc" -le 192 ]; then
  tr_signal=$((tr_rc - 128))
fi
tr_size stdout
tr_out=$tr_bytes
tr_size stderr
tr_now
tr_json=$(printf '{"version":1,"identity":"%s","attempt":%s,"life":%s,"started":%s,"exitCode":%s,"signal":%s,"termAtMs":%s,"timedOut":%s,"startedAtMs":%s,"endedAtMs":%s,"stdoutBytes":%s,"stderrBytes":%s,"host":"%s","signals":[%s]}' \
  "$tr_identity" "$tr_attempt" "$tr_life" "$tr_ran" "$tr_code" "$tr_signal" "$tr_term" "$tr_timed" \
  "$tr_start" "$tr_ms" "$tr_out" "$tr_bytes" "$tr_host" "${"$"}{tr_signals#,}")
# Overwriting keeps the blocks that the spare holds; blanks behind the record are blanks in JSON too.
if ! printf '%s' "$tr_json" 2>/dev/null 1<>"spare.$tr_life" || ! mv -f "spare.$tr_life" "$tr_exit"; then
  printf '%s' "$tr_json" 1<>"$tr_exit"
fi
exit "$tr_rc"
`;
