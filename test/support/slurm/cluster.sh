#!/usr/bin/env bash
# A private Slurm cluster on this machine, for the tests. Debian, root; needs no systemd, no cgroups and, once the
# packages are installed, no network. Nothing outside the base directory is written but packages and the users
# alice and bob. stdout carries `export SLURM_CONF=…` alone (up) or a pid (pid); words for people go to stderr.
# shellcheck disable=SC2034 # the parts beside this file use what is set here
set -euo pipefail

usage() {
  cat >&2 <<'USAGE'
usage: cluster.sh up [--accounting] [--base DIR] [--port N] [--nodes N] [--min-job-age S] [--fresh]
       cluster.sh down [--base DIR] [--wipe]
       cluster.sh pid NAME [--base DIR]      prints the pid of a daemon that runs; exit 1 if it does not
       cluster.sh start NAME [--base DIR]    starts a daemon that does not run, and waits until it answers

  eval "$(cluster.sh up)" points this shell at the cluster. Calling it again is harmless: what runs is left alone,
  what died is started again, what was stopped by a signal goes on.
  NAME           munged, slurmctld, slurmd.c1 …, and with --accounting mariadbd, slurmdbd
  --accounting   slurmdbd on a database of its own; accounts proj and capped, QOS tiny and deny
  --base DIR     where everything lives (default ${TMPDIR:-/tmp}/tailrace-slurm-test)
  --port N       first of a block of ports on 127.0.0.1: 10 and one for each node (default 21810)
  --min-job-age  seconds that a finished job stays visible to squeue (default 300)
  --fresh        forget the jobs and the accounting of earlier runs; the cluster must be down
  --wipe         remove the base directory as well
USAGE
  exit 2
}

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BASE=${TMPDIR:-/tmp}/tailrace-slurm-test
PORT=21810 NODES=4 MIN_JOB_AGE=300 ACCOUNTING=no FRESH=no WIPE=no

say() { echo "slurm cluster: $*" >&2; }
die() { say "$*"; exit 1; }

# whole_number OPTION VALUE LEAST MOST
whole_number() {
  if [[ $2 =~ ^[0-9]{1,6}$ ]] && [ "$((10#$2))" -ge "$3" ] && [ "$((10#$2))" -le "$4" ]; then return; fi
  die "$1 takes a whole number from $3 to $4, not '$2'"
}

[ $# -ge 1 ] || usage
COMMAND=$1 NAME=
shift
case $COMMAND in
  pid | start)
    [ $# -ge 1 ] || usage
    NAME=$1
    shift
    [[ $NAME =~ ^(munged|mariadbd|slurmdbd|slurmctld|slurmd\.c[1-9][0-9]*)$ ]] || die "no daemon is called '$NAME'"
    ;;
  up | down) ;;
  *) usage ;;
esac
while [ $# -gt 0 ]; do
  case $COMMAND$1 in
    up--accounting) ACCOUNTING=yes ;;
    up--fresh) FRESH=yes ;;
    down--wipe) WIPE=yes ;;
    *--base | up--port | up--nodes | up--min-job-age)
      [ $# -ge 2 ] || die "$1 takes a value"
      case $1 in
        --base) BASE=$2 ;;
        --port) whole_number "$1" "$2" 1024 65000 && PORT=$((10#$2)) ;;
        --nodes) whole_number "$1" "$2" 1 64 && NODES=$((10#$2)) ;;
        --min-job-age) whole_number "$1" "$2" 0 86400 && MIN_JOB_AGE=$((10#$2)) ;;
      esac
      shift
      ;;
    *) say "$COMMAND does not take '$1'" && usage ;;
  esac
  shift
done
[ "$(id -u)" = 0 ] || die "run it as root: Slurm starts jobs as other users"
case $BASE in
  *[!A-Za-z0-9/._-]*) die "--base may hold letters, digits and / . _ - only, not '$BASE'" ;;
  /*) ;;
  *) BASE=$PWD/$BASE ;;
esac
BASE=${BASE%/}
[ "${#BASE}" -le 70 ] || die "--base is too long for the path of a unix socket below it: $BASE"

ETC=$BASE/etc PIDS=$BASE/pids LOGS=$BASE/log
MUNGE_SOCKET=$BASE/munge/munge.socket DATABASE_SOCKET=$BASE/db/mariadb.sock
# Settings of the caller's shell would change what the tools print and whom they ask.
for variable in $(compgen -e); do
  case $variable in SLURM* | SBATCH_* | SQUEUE_* | SACCT* | SCANCEL_* | SINFO_* | SCONTROL_*) unset "$variable" ;; esac
done
# Every tool and daemon looks for its other files beside this one, slurmdbd too: /etc/slurm plays no part.
export SLURM_CONF=$ETC/slurm.conf LC_ALL=C

# shellcheck source=test/support/slurm/daemons.sh
source "$HERE/daemons.sh"
# shellcheck source=test/support/slurm/config.sh
source "$HERE/config.sh"
# shellcheck source=test/support/slurm/install.sh
source "$HERE/install.sh"

# The base is ours when it holds this mark; nothing else is ever written into, or removed.
MARK=$BASE/.tailrace-slurm-test
is_ours() { [ -d "$BASE" ] && [ -O "$BASE" ] && [ -f "$MARK" ]; }

make_base() {
  if ! is_ours; then
    [ ! -L "$BASE" ] || die "$BASE is a link: remove it or choose another --base"
    [ ! -e "$BASE" ] || [ -z "$(ls -A "$BASE" 2>&1)" ] || die "$BASE is not a cluster of this script: choose another --base"
    mkdir -p "$BASE"
    [ -O "$BASE" ] || die "$BASE belongs to somebody else: choose another --base"
    chmod 755 "$BASE"
    touch "$MARK"
  fi
  mkdir -p "$ETC" "$PIDS" "$LOGS"
}

up() {
  make_base
  # Two callers at once must not both start a daemon. Daemons close this descriptor (launch).
  exec 9>"$BASE/lock"
  flock -w 300 9 || die "another call has been busy with $BASE for 5 minutes"
  local was_running=no
  ! any_alive || was_running=yes
  if [ "$FRESH" = yes ]; then
    [ "$was_running" = no ] || die "--fresh: the cluster at $BASE runs; take it down first"
    rm -rf "$BASE/state" "$BASE/spool" "$BASE/db" "$LOGS" "$PIDS"
    mkdir -p "$LOGS" "$PIDS"
  fi
  install_packages
  make_users
  write_config "$was_running"
  # A start that fails half way leaves no daemon behind; one that mends a running cluster leaves that as it was.
  [ "$was_running" = yes ] || trap 'stop_all; say "it did not come up; see $LOGS"' EXIT
  continue_all
  start_all
  trap - EXIT
  echo "export SLURM_CONF=$SLURM_CONF"
}

down() {
  if ! is_ours; then
    say "nothing at $BASE"
    return
  fi
  stop_all
  [ "$WIPE" = no ] || rm -rf "$BASE"
}

# The layout of etc/ and pids/ is all that these two rely on.
daemon_command() {
  [ -d "$PIDS" ] || die "no cluster at $BASE"
  if [ "$COMMAND" = pid ]; then
    pid_of "$NAME" || die "$NAME does not run"
  else
    start "$NAME"
  fi
}

case $COMMAND in
  up | down) "$COMMAND" ;;
  *) daemon_command ;;
esac
