/** The wrapper's second part: it looks at its arguments, takes room and claim, and begins a life. */
export const CLAIM_PART = String.raw`tr_mine=0 tr_base=0
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
case $tr_requeues in
0 | -) ;;
0* | *[!0-9]* | ??????????*) tr_fail 64 'the number of requeues is not a number' ;;
esac
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

# What the job left was collected; a run that nobody follows must not write over it.
if [ -e closed ]; then
  tr_drop
  printf '%s\n' 'tailrace: the task of this job has ended, so its script is not run again' >&2
  exit 76
fi

tr_life=0
while [ -e "life.$tr_life.json" ]; do tr_life=$((tr_life + 1)); done
[ "$tr_requeues" != - ] || tr_requeues=$tr_life
tr_exit=exit.$tr_life.json
mv -f "spare.$tr_own.a" "$tr_exit"
mv -f "spare.$tr_own.b" "spare.$tr_life"
mv -f "spare.$tr_own.c" "life.$tr_life.json"
rm -f "claimant.$tr_own"
tr_now
tr_start=$tr_ms tr_script=null
tr_host=$(uname -n)
case $tr_host in *[!A-Za-z0-9._-]*) tr_host=unknown ;; esac
# Where this life begins in logs that may hold others before it.
tr_size stdout
tr_from="\"stdout\":$tr_bytes"
tr_size stderr
tr_from="$tr_from,\"stderr\":$tr_bytes"
tr_size messages
tr_from="$tr_from,\"messages\":$tr_bytes"
tr_print_life() {
  printf '{"version":1,"life":%s,"requeues":%s,"attempt":%s,"identity":"%s","host":"%s","startedAtMs":%s,"from":{%s},"script":%s}\n' \
    "$tr_life" "$tr_requeues" "$tr_attempt" "$tr_identity" "$tr_host" "$tr_start" "$tr_from" "$tr_script"
}
tr_record_life() {
  tr_print_life 2>/dev/null >life.new
  [ -s life.new ] && mv -f life.new "life.$tr_life.json" || tr_print_life 1<>"life.$tr_life.json"
}
tr_record_life

`;
