import { COOKIE } from "./wrapper-names.ts";

/** The wrapper's third part: the script runs, what it left behind is ended, and the exit record is written. */
export const RUN_PART = String.raw`# Signals every process of the job, also those that left its session: they carry the job's directory in their environment.
tr_sweep() {
  tr_swept=
  # A node that was given up may still be here: what looks like ours then belongs to the job's next life.
  [ ! -e "life.$((tr_life + 1)).json" ] || return 0
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

tr_ran=false tr_setsid= tr_env=
command -v setsid >/dev/null 2>&1 && tr_setsid=setsid
# A shell's background children ignore INT and QUIT; the job should not.
env --default-signal=INT,QUIT true 2>/dev/null && tr_env='env --default-signal=INT,QUIT'
if [ "$tr_term" = null ]; then
  tr_ran=true
  $tr_setsid $tr_env sh "$tr_dir/run" "$tr_task" </dev/null >>"$tr_dir/stdout" 2>>"$tr_dir/stderr" 9>&- &
  tr_pid=$! tr_early=$tr_term
  # A TERM that came since it was last asked for has reached nobody, and a child that is not yet the script may swallow it.
  [ "$tr_early" = null ] || tr_kill KILL
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

# Signals that Slurm sends to all processes now would only end the commands that write the record.
[ -z "$tr_slurm" ] || trap '' TERM INT HUP USR1 USR2
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
tr_json=$(printf '{"version":1,"identity":"%s","attempt":%s,"life":%s,"requeues":%s,"started":%s,"exitCode":%s,"signal":%s,"termAtMs":%s,"timedOut":%s,"startedAtMs":%s,"endedAtMs":%s,"stdoutBytes":%s,"stderrBytes":%s,"host":"%s","signals":[%s]}' \
  "$tr_identity" "$tr_attempt" "$tr_life" "$tr_requeues" "$tr_ran" "$tr_code" "$tr_signal" "$tr_term" "$tr_timed" \
  "$tr_start" "$tr_ms" "$tr_out" "$tr_bytes" "$tr_host" "${"$"}{tr_signals#,}")
# Overwriting keeps the blocks that the spare holds; blanks behind the record are blanks in JSON too.
if ! printf '%s' "$tr_json" 2>/dev/null 1<>"spare.$tr_life" || ! mv -f "spare.$tr_life" "$tr_exit"; then
  printf '%s' "$tr_json" 1<>"$tr_exit"
fi
exit "$tr_rc"
`;
