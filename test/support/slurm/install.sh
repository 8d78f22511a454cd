# shellcheck shell=bash disable=SC2154
# Part of cluster.sh: packages and users.

install_packages() {
  local missing=() program package
  local wanted=(munged:munge slurmctld:slurmctld slurmd:slurmd sbatch:slurm-client)
  # The core packages have the programs without a service of the machine's own around them.
  if [ "$ACCOUNTING" = yes ]; then
    wanted+=(slurmdbd:slurmdbd mariadbd:mariadb-server-core mariadb:mariadb-client-core)
  fi
  for package in "${wanted[@]}"; do
    program=${package%%:*}
    command -v "$program" >/dev/null || missing+=("${package#*:}")
  done
  [ "${#missing[@]}" -gt 0 ] || return 0
  command -v apt-get >/dev/null || die "install these first: ${missing[*]} (there is no apt-get here)"
  say "installing ${missing[*]}"
  # In a subshell, so that the policy goes whatever happens.
  (
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
      # 101 tells the packages' scripts to start no daemon: the cluster starts its own.
      trap 'rm -f "$policy"' EXIT
      printf '#!/bin/sh\nexit 101\n' >"$policy"
      chmod 755 "$policy"
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get -q update && apt-get -q -y install --no-install-recommends "${missing[@]}"
  ) >"$LOGS/apt.log" 2>&1 </dev/null || {
    tail -n 20 "$LOGS/apt.log" >&2
    die "the packages could not be installed; the whole log is $LOGS/apt.log"
  }
}

make_users() {
  local user
  for user in alice bob; do
    id "$user" >/dev/null 2>&1 || useradd --create-home --shell /bin/bash "$user"
  done
}
