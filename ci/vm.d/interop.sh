# `softrdma interop` on the host against peer.py in the guest. Sourced after lib.sh by the suites that need them, which set:
PEER_ADDRESS=$VM_IP # the guest's, as the guest knows it
PEER_AT=            # the same, as the host reaches it
PEER_HOST=$VM_HOST  # the host's, as the guest reaches it
LISTEN_AT=127.0.0.1 # the same, as the host knows it
PRIVATE_DATA=       # bytes of it that the kernel takes
INTEROP_OPTIONS=    # further ones of softrdma, split at blanks

# peer NAME PORT: starts a listening peer, unless the one of the cases before lives: it serves one connection after the other.
peer() {
    guest_lives "$1" && return 0
    guest_start "$1" "PEER_ADDRESS=$PEER_ADDRESS exec python3 /tmp/peer.py listen $2"
    guest_await "$1" '^listening' 30
    guest_keep "$1"
}

# shellcheck disable=SC2086
interop() {
    local reason
    softrdma interop "$@" $INTEROP_OPTIONS 2>&1 || {
        reason=$(tail -n 1 "$CASE_LOG")
        guest_log peer || true
        fail "$reason"
    }
}

# alone CASE ARGUMENTS: against one peer.
alone() {
    local case=$1
    shift
    peer peer 7174
    interop "$case" "$PEER_AT" -p 7174 "$@"
}

# both CASE ARGUMENTS: against one peer, with a connection to another one that must live on. SoftiWARP does not always flush the
# RECVs of a connection that it has terminated, so the peer may wait for ever, and ends with the case.
both() {
    local case=$1
    shift
    peer peer 7174
    guest_release peer
    peer bystander 7175
    interop "$case" "$PEER_AT" -p 7174 --bystander 7175 "$@"
}

# kernel_asks: the peers connect to the host: one that is to be rejected, some with private data, one for the sizes.
# shellcheck disable=SC2086
kernel_asks() {
    local port
    host_start java softrdma interop listen "$LISTEN_AT" -p 0 -n $PRIVATE_DATA $INTEROP_OPTIONS
    host_await java '^listening on port' 60
    port=$(sed -n 's/^listening on port //p' "$VM_WORK/java.log")
    guest 90 "PEER_ADDRESS=$PEER_ADDRESS timeout 80 python3 /tmp/peer.py connect $PEER_HOST $port reject 0 1 56 $PRIVATE_DATA 4 2>&1" ||
        fail "peer.py connect ended with an error"
    host_end java || fail "$(tail -n 1 "$VM_WORK/java.log")"
}

# connected: starts this side of a connection that will be killed, beside one that must live on.
# shellcheck disable=SC2086
connected() {
    peer peer 7174
    peer bystander 7175
    host_start java softrdma interop killed "$PEER_AT" -p 7174 --bystander 7175 $INTEROP_OPTIONS
    host_await java '^connected' 60
}

# killed_peer: the process of the peer is killed, and its kernel ends the connection.
killed_peer() {
    connected
    guest_kill peer
    host_end java || fail "$(tail -n 1 "$VM_WORK/java.log")"
}

# killed_java: this side is killed amid a connection; the peer's next connection is as good as new.
killed_java() {
    local code=0
    connected
    kill -KILL "$host_pid"
    wait "$host_pid" || code=$?
    [ $code -eq 137 ] || fail "softrdma was not killed, it ended with $code"
    interop connects "$PEER_AT" -p 7174 -n 1
}
