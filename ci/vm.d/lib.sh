# Shared by the suites of ci/rdma-vm: a guest with a kernel's RDMA device, commands in it, cases and their results.
# Sourced by the suites, never run. ci/rdma-vm sets SOFTRDMA_ROOT, VM_GUEST (the guest's files), VM_WORK (a folder of this
# run), VM_SUITE, VM_SOAK_SECONDS and VM_RESULTS (one line per case: suite, case, result, seconds, reason; separated by tabs).
#
# A suite boots a guest (vm_boot), then runs cases with `check NAME SECONDS FUNCTION [ARGUMENT...]`. A case is a function
# in which every failing command fails the case (set -e); `fail` says why. It runs in a process group of its own that is
# killed when the case ends, as is what it has started in the guest, unless it said guest_keep; what it says is in $CASE_LOG.
# After a case that failed nothing in the guest is kept. When a guest's kernel oopsed or does not answer, the case has failed
# and the next one gets a guest that was started again.

. "$SOFTRDMA_ROOT/ci/lib.sh"

# `softrdma` is this checkout's launcher, whose jar ci/rdma-vm has built.
PATH="$SOFTRDMA_ROOT:$PATH"
export SOFTRDMA_NO_BUILD=1

VM_IP=10.0.2.15  # the guest, seen from itself
VM_HOST=10.0.2.2 # the host, seen from the guest: its 127.0.0.1
VM_AGENT_PORT=7100
VM_PORTS='7174 7175 7176 7177' # reach the guest at $VM_ADDRESS
VM_MEMORY_MB=512
VM_OPTIONS= # further ones of qemu, split at blanks; a suite may set both before it boots, and
VM_SETUP= # what is to be run in a guest that has come up
VM_KVM_SECONDS=6 # a kernel that KVM runs is up in two; on some nested hosts it never is
VM_TCG_SECONDS=120
VM_OOPS='BUG: |Oops: |general protection fault|Kernel panic|soft lockup|rcu: INFO: rcu_.* stall|kernel BUG at'
VM_DEVIATIONS="$SOFTRDMA_ROOT/ci/vm.d/deviations.txt"
VM_CONSOLE="$VM_WORK/console.log"

vm_pid=
case_pids= # of the case that runs and of its watchdog, both leaders of a process group
VM_ADDRESS=
VM_DEVICE=

# fail REASON...: ends a case; the last line of its log is the reason in the table.
fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

# cannot REASON...: ends a suite that cannot run here.
cannot() {
    say "$VM_SUITE: $*"
    exit 77
}

# need TOOL...: ends the suite if a program is missing on the host.
need() {
    local tool
    for tool in "$@"; do command -v "$tool" >/dev/null 2>&1 || cannot "needs $tool, which is not here (ci/install brings it)"; done
}

# vm_start ACCELERATOR: starts a guest that nobody waits for yet. It does not check its timer's interrupts while it boots: where
# the host takes its processors away meanwhile, that ends in a panic. The host's side of the forwarded ports is an address of
# the loopback network drawn at random, so that guests of several runs do not meet.
vm_start() {
    local try port forward cpu=max
    [ "$1" = kvm ] && cpu=host
    for try in 1 2 3 4 5; do
        VM_ADDRESS=127.$((RANDOM % 200 + 10)).$((RANDOM % 250 + 1)).$((RANDOM % 250 + 1))
        forward=
        for port in $VM_AGENT_PORT $VM_PORTS; do forward="$forward,hostfwd=tcp:$VM_ADDRESS:$port-$VM_IP:$port"; done
        : >"$VM_CONSOLE"
        qemu-system-x86_64 -accel "$1" -cpu "$cpu" -smp 2 -m "$VM_MEMORY_MB" -display none -monitor none -no-reboot \
            -kernel "$VM_GUEST/kernel" -initrd "$VM_GUEST/initrd.gz" \
            -append "console=ttyS0 quiet panic=-1 mitigations=off no_timer_check softrdma.device=$VM_DEVICE" \
            -drive "file=$VM_GUEST/disk.img,if=virtio,format=raw,snapshot=on" -nic "user,model=virtio-net-pci$forward" \
            -object rng-random,id=random,filename=/dev/urandom -device virtio-rng-pci,rng=random \
            -serial "file:$VM_CONSOLE" ${VM_OPTIONS:-} </dev/null >"$VM_WORK/qemu.log" 2>&1 &
        vm_pid=$!
        # A rule that cannot be set up ends qemu at once, before it opens the console.
        until [ -s "$VM_CONSOLE" ] || grep -qs . "$VM_WORK/qemu.log" || ! kill -0 "$vm_pid" 2>/dev/null || guest_port_open; do sleep 0.1; done
        grep -qs 'host forwarding rule' "$VM_WORK/qemu.log" || return 0
        vm_stop
    done
    return 1
}

# guest_port_open: qemu has set up the forwarding.
guest_port_open() { (exec 3<>"/dev/tcp/$VM_ADDRESS/$VM_AGENT_PORT") 2>/dev/null; }

# vm_await SECONDS: until the guest's agent answers; fails when it does not in time or qemu has ended.
vm_await() {
    local end=$((SECONDS + $1))
    until grep -aqs 'softrdma guest ready' "$VM_CONSOLE" && guest 5 : >/dev/null; do
        kill -0 "$vm_pid" 2>/dev/null && [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}

# vm_boot DEVICE: starts a guest with siw0 or rxe0 on its network card, and waits for it. KVM first; where that did not
# come up once, no longer in this run.
vm_boot() {
    VM_DEVICE=$1
    vm_stop
    if [ -w /dev/kvm ] && [ ! -e "$VM_RESULTS.nokvm" ]; then
        if vm_start kvm && vm_await "$VM_KVM_SECONDS"; then return 0; fi
        vm_stop
        : >"$VM_RESULTS.nokvm"
        say "rdma-vm: no guest comes up with KVM here; going on without, which is slower"
    fi
    if ! vm_start tcg,thread=multi || ! vm_await "$VM_TCG_SECONDS"; then
        cat "$VM_WORK/qemu.log" "$VM_CONSOLE" >&2
        die "the guest did not come up in $VM_TCG_SECONDS s"
    fi
    grep -aq "state ACTIVE" "$VM_CONSOLE" || die "no device in the guest: $(tail -n 5 "$VM_CONSOLE")"
    [ -z "$VM_SETUP" ] || guest 20 "$VM_SETUP" >"$VM_WORK/setup.log" || die "the guest cannot be set up: $(tail -n 5 "$VM_WORK/setup.log")"
}

vm_stop() {
    [ -n "$vm_pid" ] || return 0
    kill -KILL "$vm_pid" 2>/dev/null
    wait "$vm_pid" 2>/dev/null
    vm_pid=
}

# case_stop: ends the case that runs, with everything it started on the host.
case_stop() {
    local pid
    for pid in $case_pids; do kill -KILL -- "-$pid"; done 2>/dev/null
    case_pids=
}
trap 'case_stop; vm_stop' EXIT
trap 'exit 143' TERM INT HUP

# guest SECONDS SCRIPT: runs shell in the guest, prints what it writes, returns its code: 124 once its time is over, 125
# if the guest does not answer.
guest() {
    local agent answer code script=$2
    { exec {agent}<>"/dev/tcp/$VM_ADDRESS/$VM_AGENT_PORT"; } 2>/dev/null || return 125
    # A guest that is not listening yet ends the connection that qemu has taken for it: no answer, and no SIGPIPE for the suite.
    (trap '' PIPE; printf '%s %s\n%s' "$(LC_ALL=C; printf '%s' "${#script}")" "$1" "$script" >&"$agent") 2>/dev/null
    answer=$(timeout $(($1 + 5)) cat <&"$agent" 2>/dev/null | tr -d '\0')
    exec {agent}<&-
    code=${answer##*$'\n'exit }
    case "$code" in '' | *[!0-9]*) return 125 ;; esac
    answer=${answer%$'\n'exit *}
    [ -z "$answer" ] || printf '%s\n' "$answer"
    return "$code"
}

# guest_put FILE PATH: copies a file of the host into the guest.
guest_put() { guest 20 "base64 -d >'$2' <<'END'
$(base64 "$1")
END"; }

# guest_get PATH FILE: copies a file of the guest to the host.
guest_get() { guest 60 "base64 '$1'" | base64 -d >"$2"; }

# guest_start NAME SCRIPT: starts shell in the guest; its output goes to /tmp/run/NAME.log.
guest_start() {
    guest 10 "mkdir -p /tmp/run; cd /tmp/run; rm -f $1.*
cat >$1.sh <<'END'
$2
END
setsid sh -c 'echo \$\$ >$1.pid; sh $1.sh; echo \$? >$1.new; mv $1.new $1.code' >$1.log 2>&1 </dev/null &
until [ -s $1.pid ]; do usleep 10000; done"
}

# guest_await NAME PATTERN SECONDS: until a line of what was started has the pattern.
guest_await() {
    guest "$3" "cd /tmp/run; until grep -qE '$2' $1.log; do [ ! -e $1.code ] || grep -qE '$2' $1.log || exit 3; usleep 50000; done" && return 0
    guest_log "$1" >&2
    fail "$1 in the guest did not say '$2' in $3 s"
}

# guest_listens PORT: until something in the guest listens there, on TCP or by its RDMA device. An identifier of the connection manager is
# said to listen a moment before its device does: with SoftiWARP, whose sockets are in /proc, only the socket counts.
guest_listens() {
    local socket by_device
    socket="cat /proc/net/tcp /proc/net/tcp6 | grep -qE ':$(printf %04X "$1") 0+:0000 0A'"
    by_device="[ $VM_DEVICE != siw ] && rdma resource show cm_id | grep -qE 'LISTEN.* src-addr [^ ]*:$1 '"
    guest 20 "until { $socket; } || { $by_device; }; do usleep 50000; done" || fail "nothing listens on port $1 of the guest"
}

# guest_end NAME SECONDS: waits for the end of what was started, prints its log, returns its code; 124 if it does not end.
guest_end() {
    guest "$2" "cd /tmp/run; until [ -e $1.code ]; do usleep 50000; done" || {
        guest_log "$1"
        return 124
    }
    guest_log "$1"
    return "$(guest 10 "cat /tmp/run/$1.code")"
}

guest_log() { guest 10 "cat /tmp/run/$1.log"; }

# guest_keep NAME: what was started lives on when this case has passed; its name is taken as long as guest_lives.
guest_keep() { guest 10 ": >/tmp/run/$1.keep"; }

# guest_release NAME: what was kept ends with this case after all.
guest_release() { guest 10 "rm -f /tmp/run/$1.keep"; }

# guest_lives NAME: what was started has not ended, nor was it killed.
guest_lives() { guest 10 "cd /tmp/run && [ -s $1.pid ] && kill -0 -\$(cat $1.pid)" >/dev/null; }

# guest_kill NAME: kills what was started, with its children.
guest_kill() { guest 10 "kill -KILL -\$(cat /tmp/run/$1.pid)"; }

# host_start NAME COMMAND...: starts a process of the host that ends with the case; sets $host_pid.
host_start() {
    local name=$1
    shift
    : >"$VM_WORK/$name.log" # here: the child may be slow to, and what is there is of another case
    "$@" >"$VM_WORK/$name.log" 2>&1 </dev/null &
    host_pid=$!
}

# host_await NAME PATTERN SECONDS: until a line of it has the pattern.
host_await() {
    local end=$((SECONDS + $3))
    until grep -aqsE "$2" "$VM_WORK/$1.log" && [ -z "$(tail -c 1 "$VM_WORK/$1.log")" ]; do # not half a line
        if ! kill -0 "$host_pid" 2>/dev/null && ! grep -aqsE "$2" "$VM_WORK/$1.log" || [ $SECONDS -ge $end ]; then
            cat "$VM_WORK/$1.log" >&2
            fail "$1 on the host did not say '$2' in $3 s"
        fi
        sleep 0.05
    done
}

# host_end NAME: waits for it, shows its log; returns its code.
host_end() {
    local code=0
    wait "$host_pid" || code=$?
    cat "$VM_WORK/$1.log"
    return $code
}

# host_port: a port of the host that is free now, mostly.
host_port() { printf '%s' $((20000 + RANDOM % 10000)); }

# vm_oops LINE: what the guest's console said of a broken kernel from that line on; fails if nothing.
vm_oops() { tail -n "+$1" "$VM_CONSOLE" | grep -aE -m 1 "$VM_OOPS"; }

# vm_clean [all]: kills what was started in the guest, other than what is kept, until its device has no listener of it left.
vm_clean() {
    guest 15 "cd /tmp/run 2>/dev/null || exit 0
[ -z '${1:-}' ] || rm -f *.keep
kept='^\$'
for pid in *.pid; do
    name=\${pid%.pid}
    if [ -e \$name.keep ]; then
        for each in \$(pgrep -s \$(cat \$pid)); do kept=\"\$kept| pid \$each \"; done
        continue
    fi
    [ ! -e \$pid ] || kill -KILL -\$(cat \$pid)
    gone=\"\${gone:-} \$name\"
done 2>/dev/null
while rdma resource show cm_id | grep LISTEN | grep -qvE \"\$kept\"; do usleep 50000; done
for name in \$gone; do rm -f \$name.*; done"
} >/dev/null 2>&1

# check NAME SECONDS FUNCTION [ARGUMENT...]: runs a case and notes its result.
check() {
    local name=$1 limit=$2 log="$VM_WORK/$1.log" line start=$SECONDS code=0 watchdog case_pid result reason deviation oops
    local clean=
    shift 2
    if [ -z "$vm_pid" ]; then vm_boot "$VM_DEVICE"; fi
    line=$(($(wc -l <"$VM_CONSOLE") + 1))
    set -m
    (
        set +m
        trap - EXIT
        set -eu
        CASE_LOG=$log
        "$@"
    ) >"$log" 2>&1 </dev/null &
    case_pid=$!
    (
        trap - EXIT
        sleep "$limit"
        echo "not done after $limit s" >>"$log"
        kill -KILL -- "-$case_pid"
    ) >/dev/null 2>&1 &
    watchdog=$!
    case_pids="$watchdog $case_pid"
    set +m
    wait "$case_pid" 2>/dev/null || code=$?
    case_stop
    wait "$watchdog" 2>/dev/null
    result=passed reason=
    if [ $code -ne 0 ]; then result=failed clean=all reason=$(grep -a . "$log" | tail -n 1); fi
    if oops=$(vm_oops "$line"); then
        result=failed reason="the guest's kernel: $oops"
    elif ! vm_clean $clean && ! guest 10 : >/dev/null; then
        result=failed reason="the guest does not answer any more${reason:+; before: $reason}"
        oops=silent
    fi
    if [ -n "$oops" ]; then
        tail -n "+$line" "$VM_CONSOLE" >>"$log"
        vm_stop
    fi
    deviation=$(sed -n "s|^$VM_SUITE/$name: *||p" "$VM_DEVIATIONS")
    if [ -n "$deviation" ]; then
        if [ $result = failed ]; then
            result=known reason="$deviation"
        else
            result=failed reason="listed in ci/vm.d/deviations.txt, but it passes: take it off the list"
        fi
    fi
    if [ $result = failed ]; then
        say "-- $VM_SUITE/$name FAILED; its log, of which the end is shown: $log"
        tail -n 30 "$log" >&2
    fi
    printf '%s\t%s\t%s\t%s\t%s\n' "$VM_SUITE" "$name" $result $((SECONDS - start)) "${reason:0:160}" >>"$VM_RESULTS"
    say "$(printf '%-52s %-7s %3s s' "$VM_SUITE/$name" $result $((SECONDS - start)))"
}
