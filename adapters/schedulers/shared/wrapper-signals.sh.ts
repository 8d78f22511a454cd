import { TIMER_COOKIE } from "./wrapper-names.ts";

/** The wrapper's first part: its settings, what it does at a signal, clock and timers. */
export const SIGNALS_PART = String.raw`#!/bin/sh
set -u
PATH=${"$"}{PATH:-/usr/local/bin:/usr/bin:/bin}
tr_task=${"$"}{1:-} tr_attempt=${"$"}{2:-} tr_identity=${"$"}{3:-} tr_walltime=${"$"}{4:-0} tr_grace=${"$"}{5:-0}
tr_requeues=${"$"}{6:--}
tr_dir=$tr_task/.tailrace
tr_pid= tr_got= tr_timer= tr_term=null tr_stopping= tr_killed= tr_reaped= tr_timed=false tr_signals= tr_noted=0 tr_rc=0
# Slurm signals every process of a job itself, at once, and keeps its own time.
tr_slurm=
case $tr_identity in slurm:*) tr_slurm=1 ;; esac

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
  tr_stamp
  tr_noted=$((tr_noted + 1))
  # Noted first: the script's answer may bring on the next signal, and some shells run its trap inside this one.
  [ "$tr_noted" -gt 40 ] || tr_signals="$tr_signals,{\"name\":\"$1\",\"atMs\":$tr_at}"
  if [ -n "$tr_slurm" ]; then
    # A script that is gone may have gone of this very TERM, before this shell came to look.
    [ "$tr_rc" != 143 ] || tr_late=
    [ -z "$tr_pid" ] || [ "$1" = TERM ] || tr_kill "$1"
  elif [ -n "$tr_pid" ]; then
    kill -0 "$tr_pid" 2>/dev/null || tr_late=1
    tr_kill "$1"
  fi
  [ "$1" = TERM ] || return 0
  # Once the script has ended by itself, a stop came too late to be its cause.
  [ "$tr_term" != null ] || [ -n "$tr_late" ] || tr_term=$tr_at
  [ -z "$tr_pid" ] || [ -n "$tr_slurm" ] || tr_kill CONT
  tr_stop
}
tr_ring() {
  if [ -n "$tr_slurm" ]; then
    tr_on ALRM
    return 0
  fi
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
tr_size() {
  tr_bytes=0
  [ ! -f "$1" ] || tr_bytes=$(wc -c <"$1")
  tr_bytes=${"$"}{tr_bytes##* }
  case $tr_bytes in '' | *[!0-9]*) tr_bytes=0 ;; esac
}
tr_nap() { sleep 0.1 2>/dev/null || sleep 1; }

# Rings this shell, and only this shell, after so many seconds and then each second: one ring may come too early for wait.
tr_set_timer() {
  tr_stop_timer
  [ -z "$tr_slurm" ] || return 0
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

`;
