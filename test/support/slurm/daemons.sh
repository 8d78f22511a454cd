# shellcheck shell=bash disable=SC2154
# Part of cluster.sh: processes. pids/NAME holds "PID STARTTIME": a pid that was given away again is not ours.

# start_time PID: field 22 of its stat, in clock ticks since boot; fails for a process that is gone or a zombie
start_time() {
  local stat fields
  { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
  # The second field is the program's name in brackets and may hold anything.
  read -r -a fields <<<"${stat##*) }"
  [ "${fields[0]}" != Z ] && [ "${fields[0]}" != X ] && echo "${fields[19]}"
}

# pid_of NAME: prints its pid; fails when it does not run
pid_of() {
  local pid started
  [ -s "$PIDS/$1" ] && read -r pid started <"$PIDS/$1" || return 1
  [ "$(start_time "$pid")" = "$started" ] && echo "$pid"
}

alive() { pid_of "$1" >/dev/null; }

all_names() { (cd "$PIDS" 2>/dev/null && ls); }

any_alive() {
  local name
  for name in $(all_names); do ! alive "$name" || return 0; done
  return 1
}

# listening PORT: asked of the kernel, since a connection that says nothing is an error in a daemon's log
listening() { grep -qsE ":$(printf %04X "$1") 0+:0000 0A " /proc/net/tcp /proc/net/tcp6; }

# launch NAME PORT PROGRAM ARGUMENT…: PORT is - for a daemon without one. In a session of its own, detached from the caller's terminal, streams and lock
launch() {
  local name=$1 port=$2
  shift 2
  if [ "$port" != - ] && listening "$port"; then
    die "port $port, wanted by $name, is taken: choose another --port (and --base), or take down what holds it"
  fi
  setsid "$@" >"$LOGS/$name.out" 2>&1 </dev/null 9>&- &
  echo "$! $(start_time $!)" >"$PIDS/$name"
  disown
}

# await SECONDS NAME TEST…: until the test succeeds; dies when the time is up or the daemon is dead
await() {
  local until=$((SECONDS + $1)) name=$2
  shift 2
  while alive "$name"; do
    ! "$@" >/dev/null 2>&1 || return 0
    if [ "$SECONDS" -ge "$until" ]; then die "$name does not answer; see $LOGS"; fi
    sleep 0.05
  done
  tail -n 5 "$LOGS/$name.out" >&2 || true
  rm -f "$PIDS/$name"
  die "$name ended at once; see $LOGS"
}

# setting KEY: its value in slurm.conf
setting() { sed -n "s/^$1=\([^[:space:]]*\).*/\1/p" "$SLURM_CONF"; }

start() {
  if alive "$1"; then return 0; fi
  case $1 in
    munged) start_munged ;;
    mariadbd) start_mariadbd ;;
    slurmdbd) start_slurmdbd ;;
    slurmctld) start_slurmctld ;;
    slurmd.*)
      start_slurmd "${1#slurmd.}"
      await_slurmd "${1#slurmd.}"
      ;;
  esac
}

start_munged() {
  local dir=$BASE/munge
  mkdir -p "$dir"
  [ -s "$dir/munge.key" ] || (umask 077 && head -c 128 /dev/urandom >"$dir/munge.key")
  chown -R munge: "$dir"
  chmod 711 "$dir"
  # A killed munged leaves these, and the next one takes them for a sign of life.
  rm -f "$MUNGE_SOCKET" "$MUNGE_SOCKET.lock"
  # --force: a base below /tmp is too open for its taste
  launch munged - setpriv --reuid=munge --regid=munge --clear-groups munged --foreground --force --num-threads=4 \
    --socket="$MUNGE_SOCKET" --key-file="$dir/munge.key" --seed-file="$dir/munged.seed" \
    --pid-file="$dir/munged.pid" --log-file="$dir/munged.log"
  await 10 munged munge --no-input --socket="$MUNGE_SOCKET"
}

# As slurm, which owns the base's database: the core package brings no user of its own.
start_mariadbd() {
  [ -f "$ETC/mariadb.cnf" ] || die "the cluster at $BASE has no database of this script"
  mkdir -p "$BASE/db/data"
  chown -R slurm: "$BASE/db"
  if [ ! -d "$BASE/db/data/mysql" ]; then
    mariadb-install-db --defaults-file="$ETC/mariadb.cnf" --user=slurm --auth-root-authentication-method=socket \
      --auth-root-socket-user=root --skip-test-db >"$LOGS/mariadb-install-db.out" 2>&1 9>&- ||
      die "the database could not be made; see $LOGS/mariadb-install-db.out"
  fi
  launch mariadbd "$(sed -n 's/^port=//p' "$ETC/mariadb.cnf")" mariadbd --defaults-file="$ETC/mariadb.cnf" --user=slurm
  await 30 mariadbd sql "SELECT 1"
  sql "CREATE DATABASE IF NOT EXISTS slurm_acct_db;
    CREATE USER IF NOT EXISTS slurm@'127.0.0.1' IDENTIFIED BY 'test';
    GRANT ALL ON slurm_acct_db.* TO slurm@'127.0.0.1';"
}

sql() { timeout 10 mariadb --no-defaults --socket="$DATABASE_SOCKET" --user=root --execute="$1"; }

start_slurmdbd() {
  [ -f "$ETC/slurmdbd.conf" ] || die "the cluster at $BASE has no accounting: it was made without --accounting"
  local port
  port=$(setting AccountingStoragePort)
  launch slurmdbd "$port" slurmdbd -D
  # The port first: a client that is refused tries again only seconds later.
  await 30 slurmdbd listening "$port"
  await 20 slurmdbd timeout 5 sacctmgr --noheader show cluster
}

# Every command of sacctmgr costs a commit of half a second: few lines.
seed_accounting() {
  local known
  known=$(sacctmgr --noheader --parsable2 show assoc format=account,user where account=capped)
  [[ $known != *"capped|bob"* ]] || return 0
  sacctmgr --immediate >"$LOGS/sacctmgr.out" 2>&1 <<'COMMANDS' || true
add cluster test
add account proj,capped cluster=test organization=test description=test
add qos tiny MaxSubmitJobsPerUser=2 MaxJobsPerUser=1 MaxWallDurationPerJob=00:30:00
add qos deny MaxTRESPerJob=cpu=1 flags=DenyOnLimit
add user root,alice,bob account=proj QosLevel=normal,tiny,deny
add user root,alice,bob account=capped MaxSubmitJobs=2 MaxJobs=1
COMMANDS
  known=$(sacctmgr --noheader --parsable2 show assoc format=account,user where account=capped)
  [[ $known = *"capped|bob"* ]] || die "accounts and users could not be made; see $LOGS/sacctmgr.out"
}

start_slurmctld() {
  launch slurmctld "$(setting SlurmctldPort)" slurmctld -D -f "$SLURM_CONF"
  await 30 slurmctld timeout 5 scontrol ping
}

# start_slurmd NODE
start_slurmd() {
  mkdir -p "$BASE/spool/$1"
  launch "slurmd.$1" "$(slurmd_port "$1")" slurmd -D -N "$1" -f "$SLURM_CONF"
}

await_slurmd() { await 20 "slurmd.$1" listening "$(slurmd_port "$1")"; }

# slurmd_port NODE: the nodes c1, c2, … have the ports of one line in turn
slurmd_port() {
  local first
  first=$(sed -n 's/^NodeName=c\[.* Port=\[\([0-9]*\)-.*/\1/p' "$SLURM_CONF")
  echo $((first + ${1#c} - 1))
}

start_all() {
  local i
  mkdir -p "$BASE/state" "$BASE/spool"
  chown slurm: "$BASE/state" "$LOGS"
  chmod 700 "$BASE/state"
  start munged
  if [ "$ACCOUNTING" = yes ]; then
    start mariadbd
    start slurmdbd
    seed_accounting
  fi
  # Before the nodes: a slurmd that finds no controller tries again only much later.
  start slurmctld
  for ((i = 1; i <= NODES; i++)); do alive "slurmd.c$i" || start_slurmd "c$i"; done
  for ((i = 1; i <= NODES; i++)); do await_slurmd "c$i"; done
  await 30 slurmctld nodes_answer
}

nodes_answer() {
  local states
  states=$(timeout 10 sinfo --noheader --Node --partition=main --format=%t) || return 1
  ! grep -qE '[*]|unk|down' <<<"$states"
}

continue_all() {
  local name pid
  for name in $(all_names); do
    ! pid=$(pid_of "$name") || kill -CONT "$pid" 2>/dev/null || true
  done
}

# Exactly what `up` and `start` started, and what is left of the jobs below it.
stop_all() {
  local name
  continue_all
  ! alive slurmctld || cancel_jobs
  for name in $(all_names); do [[ $name != slurmd.* ]] || stop "$name"; done
  kill_steps
  stop slurmctld
  stop slurmdbd
  stop mariadbd
  stop munged
}

cancel_jobs() {
  local state until=$((SECONDS + 10))
  for state in PENDING RUNNING SUSPENDED; do timeout 5 scancel --state="$state" --full 2>/dev/null 9>&- || return 0; done
  while [ "$SECONDS" -lt "$until" ] && [ -n "$(timeout 5 squeue --noheader 2>/dev/null)" ]; do sleep 0.1; done
}

# stop NAME: TERM, after ten seconds KILL
stop() {
  local pid until=$((SECONDS + 10))
  if pid=$(pid_of "$1"); then
    kill -TERM "$pid" 2>/dev/null || true
    while alive "$1" && [ "$SECONDS" -lt "$until" ]; do sleep 0.05; done
    if alive "$1"; then
      say "$1 did not end when asked to: killed"
      kill -KILL "$pid" 2>/dev/null || true
    fi
  fi
  rm -f "$PIDS/$1"
}

# A slurmd that was killed leaves its slurmstepd processes, and those the jobs.
kill_steps() {
  local process
  for process in /proc/[0-9]*; do
    [ "$(cat "$process/comm" 2>/dev/null)" = slurmstepd ] || continue
    tr '\0' '\n' 2>/dev/null <"$process/environ" | grep -qxF "SLURM_CONF=$SLURM_CONF" || continue
    kill_tree "${process#/proc/}"
  done
}

# kill_tree PID: stopped first, so that it makes no more children while they are gathered
kill_tree() {
  local child
  kill -STOP "$1" 2>/dev/null || return 0
  # shellcheck disable=SC2013 # the file holds pids on one line
  for child in $(cat "/proc/$1/task/"*/children 2>/dev/null); do kill_tree "$child"; done
  kill -KILL "$1" 2>/dev/null || true
}
