# What the suites on the providers of the kernel's devices share: whole suites, and their cases on a device of the guest. Sourced, never
# run. A suite sets PROVIDER before: rdmacore, or disni, whose suites do not run without the libdisni.so that LIBDISNI names.

. "$SOFTRDMA_ROOT/ci/vm.d/lib.sh"
. "$SOFTRDMA_ROOT/ci/vm.d/java.sh"

RESULTS="$SOFTRDMA_ROOT/target/rdma-vm" # for ci/backends
RACE_SECONDS=10
PREFIX=
[ "$PROVIDER" = rdmacore ] || PREFIX=$PROVIDER-
if [ "$PROVIDER" = disni ]; then
    [ -n "${LIBDISNI:-}" ] || cannot "not run: LIBDISNI is not given, the path of a libdisni.so built as docs/guide/backends.md says"
    [ -r "$LIBDISNI" ] || cannot "not run: LIBDISNI=$LIBDISNI cannot be read"
fi

# tck_suite rxe|siw: the conformance suite.
tck_suite() {
    vm_java_disk
    vm_boot "$1"
    check providers 180 providers "${1}0"
    check tck 560 tck "${1}0" --scale 0.1
}

# store_suite: the store with server and client, on either device.
store_suite() {
    local device
    vm_java_disk "$SOFTRDMA_ROOT/ci/vm.d/StoreRace.java"
    for device in rxe siw; do
        vm_boot $device
        check $device-store 560 store ${device}0
    done
}

# providers DEVICE: the device is listed as usable.
providers() {
    guest_java 150 'softrdma providers 2>&1'
    grep -A 1 "^$PROVIDER: usable" "$CASE_LOG" | grep -q "$1 (" || fail "softrdma providers does not list $1"
}

# tck DEVICE [ARGUMENTS]: every conformance case. What an earlier run left for ci/backends goes first, and only a whole result comes.
tck() {
    local device=$1 code=0 result="$RESULTS/tck-$PREFIX$1.json"
    shift
    rm -f "$result"
    guest_java_start tck "softrdma tck --provider $PROVIDER --device device=$device --address $VM_IP --json /tmp/tck.json $*"
    guest_end tck 540 || code=$?
    mkdir -p "$RESULTS"
    guest_get /tmp/tck.json "$result.new" && [ -s "$result.new" ] && mv "$result.new" "$result"
    [ $code -eq 0 ] || fail "$(tail -n 1 "$CASE_LOG")"
}

# store DEVICE: a server in the guest; values of several sizes, then set and delete against READs.
store() {
    guest_java_start server "softrdma server -l $VM_IP -p 11211 -m 64 -I 4m --provider $PROVIDER --device device=$1"
    guest_await server '^rdma: ' 150
    guest_java 150 "program StoreRace $VM_IP 11211 $PROVIDER $1 $RACE_SECONDS $RANDOM 2>&1" || store_failed "$(grep -a . "$CASE_LOG" | tail -n 1)"
    guest_kill server
}

# store_failed REASON: shows what the server says, where its threads wait in Java, and which wait in the kernel for something else than that.
store_failed() {
    guest 10 'pkill -QUIT -f "softrdma.jar server"' || :
    guest_await server 'JNI global refs' 30 || :
    guest_log server
    guest 20 'for task in /proc/[0-9]*/task/*; do echo "$(cat $task/comm): $(cat $task/wchan)"; done 2>/dev/null | grep -Ev ": (0|futex_|ep_poll|do_poll|.*select)" | sort | uniq -c' || :
    fail "$1"
}

# perftest DEVICE TEST OPTIONS: a test of perftest. It measures the clock first, and in an emulated guest sometimes finds it too
# unsteady to go on; and by -R its client may connect before its server listens there, after their exchange over TCP, and is
# refused. Then it is asked again.
perftest() {
    local command="ib_${2/-/_} $3 -d $1 -n 1000 -s 4096"
    for _ in 1 2 3 4 5; do
        guest_start server "exec $command"
        guest_listens 18515
        if guest 60 "$command $VM_IP" && guest_end server 20; then return 0; fi
        grep -qE "Can't produce a report|Connection refused" "$CASE_LOG" || break
        guest_kill server || : # it may have ended
    done
    fail "$command: $(tail -n 1 "$CASE_LOG")"
}

# perf DEVICE TEST OPTIONS: a test of perftest and the same one of ours, on the same device; both results stand in the log.
perf() {
    perftest "$@"
    guest_java_start ours "softrdma perf $2 -p 18600 -n 1000 -s 4096 --provider $PROVIDER --device device=$1 --device address=$VM_IP"
    guest_await ours 'isten' 150
    guest_java 120 "softrdma perf $2 -p 18600 -n 1000 -s 4096 --provider $PROVIDER --device device=$1 $VM_IP 2>&1" || fail "$(tail -n 1 "$CASE_LOG")"
}
