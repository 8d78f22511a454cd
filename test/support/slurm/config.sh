# shellcheck shell=bash disable=SC2153,SC2154
# Part of cluster.sh: what the daemons read.

CPUS=4 MEMORY=2000 # of one node; the memory in MiB
SLURMCTLD_PORT=$PORT SLURMDBD_PORT=$((PORT + 1)) DATABASE_PORT=$((PORT + 2)) FIRST_NODE_PORT=$((PORT + 10))

# write_config WAS_RUNNING
write_config() {
  local staged
  staged=$(mktemp -d "$BASE/etc.XXXXXX")
  { slurm_conf && accounting_conf; } >"$staged/slurm.conf"
  cgroup_conf >"$staged/cgroup.conf"
  if [ "$ACCOUNTING" = yes ]; then
    slurmdbd_conf >"$staged/slurmdbd.conf"
    mariadb_conf >"$staged/mariadb.cnf"
  fi
  if [ "$1" = yes ] && ! diff -rq "$ETC" "$staged" >/dev/null; then
    rm -rf "$staged"
    die "a cluster with other options runs at $BASE: take it down first, or choose another --base and --port"
  fi
  chmod 755 "$staged"
  chmod 644 "$staged"/*
  if [ "$ACCOUNTING" = yes ]; then
    # It holds a password: slurmdbd refuses a file that others can read.
    chown slurm: "$staged/slurmdbd.conf"
    chmod 600 "$staged/slurmdbd.conf"
  fi
  rm -rf "$ETC"
  mv "$staged" "$ETC"
  if ! runuser -u alice -- test -r "$SLURM_CONF"; then
    die "other users cannot read $SLURM_CONF, so no job of theirs could run: choose a --base below a directory open to all"
  fi
}

# MessageTimeout, KillWait and SlurmdTimeout are far below their defaults, for faults to show within a test's patience.
# config_overrides: the nodes pretend to more CPUs than the machine has. TreeWidth: the controller speaks to each node
# itself, so that a stopped slurmd keeps no message from another. ReturnToService: a node that was lost comes back.
# MaxJobCount, MaxArraySize: room for a queue of tens of thousands that a few sbatch make.
slurm_conf() {
  local host nodes="c[1-$NODES]"
  host=$(hostname -s 2>/dev/null || hostname)
  cat <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$SLURMCTLD_PORT
SlurmUser=slurm
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$MUNGE_SOCKET
CredType=cred/munge
StateSaveLocation=$BASE/state
SlurmdSpoolDir=$BASE/spool/%n
SlurmctldPidFile=$BASE/state/slurmctld.pid
SlurmdPidFile=$BASE/spool/%n/slurmd.pid
SlurmctldLogFile=$LOGS/slurmctld.log
SlurmdLogFile=$LOGS/slurmd.%n.log
MailProg=/bin/true

ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
SwitchType=switch/none
MpiDefault=none
PropagateResourceLimits=NONE

MessageTimeout=10
TCPTimeout=2
KillWait=2
SlurmctldTimeout=30
SlurmdTimeout=10
BatchStartTimeout=10
UnkillableStepTimeout=60
MinJobAge=$MIN_JOB_AGE
MaxJobCount=50000
MaxArraySize=2001
ReturnToService=2
TreeWidth=65533
SlurmdParameters=config_overrides

SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,batch_sched_delay=0,bf_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
DefMemPerCPU=100
PriorityType=priority/multifactor
PriorityWeightPartition=1000
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
Licenses=lic:2

NodeName=$nodes NodeHostname=$host NodeAddr=127.0.0.1 Port=[$FIRST_NODE_PORT-$((FIRST_NODE_PORT + NODES - 1))] CPUs=$CPUS RealMemory=$MEMORY
PartitionName=DEFAULT Nodes=$nodes MaxTime=1-00:00:00 DefaultTime=00:10:00 PriorityTier=5 PreemptMode=OFF
PartitionName=main Default=YES
PartitionName=short MaxTime=00:01:00 DefaultTime=00:01:00
PartitionName=low PriorityTier=1 PreemptMode=REQUEUE
PartitionName=lowkill PriorityTier=1 PreemptMode=CANCEL
PartitionName=high PriorityTier=10
PartitionName=closed State=DOWN
CONF
}

accounting_conf() {
  if [ "$ACCOUNTING" = no ]; then
    echo AccountingStorageType=accounting_storage/none
    return
  fi
  cat <<CONF
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$SLURMDBD_PORT
AccountingStoragePass=$MUNGE_SOCKET
AccountingStorageEnforce=associations,limits,qos
AccountingStoreFlags=job_comment
CONF
}

# Slurm asks for a cgroup plugin even where nothing uses one, and its own search for one fails without a cgroup file
# system. Naming cgroup/v1 searches for nothing; since 24.05 there is a word for none at all.
cgroup_conf() {
  local version
  version=$(slurmctld -V | sed -n 's/^slurm[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1\2/p')
  if [ "${version:-0}" -ge 2405 ]; then echo CgroupPlugin=disabled; else echo CgroupPlugin=cgroup/v1; fi
}

slurmdbd_conf() {
  cat <<CONF
AuthType=auth/munge
AuthInfo=socket=$MUNGE_SOCKET
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$SLURMDBD_PORT
SlurmUser=slurm
PidFile=$BASE/state/slurmdbd.pid
LogFile=$LOGS/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$DATABASE_PORT
StorageUser=slurm
StoragePass=test
StorageLoc=slurm_acct_db
CONF
}

# A power cut may lose the accounting of tests, so nothing waits for the disk.
mariadb_conf() {
  cat <<CONF
[mariadbd]
datadir=$BASE/db/data
socket=$DATABASE_SOCKET
pid-file=$BASE/db/mariadbd.pid
bind-address=127.0.0.1
port=$DATABASE_PORT
skip-name-resolve
skip-log-bin
innodb-buffer-pool-size=128M
innodb-log-file-size=48M
innodb-lock-wait-timeout=900
innodb-flush-log-at-trx-commit=0
innodb-flush-method=nosync
innodb-doublewrite=0
CONF
}
