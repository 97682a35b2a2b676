# A second network card of the guest, with SoftRoCE, and a tap of the host that leads to it by way of cable.py. Needs no root: the suite runs
# in a user namespace with a network of its own. Sourced after lib.sh; it starts the suite again within that namespace. vm_boot rxe follows.
HOST4=10.9.0.1 GUEST4=10.9.0.11
HOST6=fd09::1 GUEST6=fd09::11
CARD_PORT=7200 CONTROL_PORT=7201 # of the cable, in this namespace

if [ -z "${ROCE_NAMESPACE:-}" ]; then
    need unshare ip python3
    [ -w /dev/net/tun ] || cannot "needs a tap, and /dev/net/tun cannot be opened here"
    unshare -Urn true 2>/dev/null || cannot "needs a user namespace and its own network (unshare -Urn), which this machine forbids"
    ROCE_NAMESPACE=1 exec unshare -Urn "$0"
fi

# cable_ready: the cable, and this namespace's end of it.
cable_ready() {
    python3 -B "$SOFTRDMA_ROOT/ci/vm.d/cable.py" tap0 $CARD_PORT $CONTROL_PORT >"$VM_WORK/cable.log" 2>&1 </dev/null &
    cable_pid=$!
    until grep -qs ready "$VM_WORK/cable.log"; do
        kill -0 $cable_pid 2>/dev/null || cannot "no tap can be had here: $(tail -n 1 "$VM_WORK/cable.log")"
        sleep 0.05
    done
    ip link set lo up
    ip link set tap0 address 02:00:00:00:09:fe mtu 9000 up
    ip address add $HOST4/24 dev tap0
    ip -6 address add $HOST6/64 dev tap0 nodad
}
cable_ready
trap 'case_stop; vm_stop; kill $cable_pid 2>/dev/null' EXIT

VM_OPTIONS="-netdev socket,id=wire,connect=127.0.0.1:$CARD_PORT -device virtio-net-pci,netdev=wire,mac=02:00:00:00:09:0b,host_mtu=9000"
VM_SETUP="set -e
echo 0 >/proc/sys/net/ipv6/conf/eth1/accept_dad
ip link set eth1 mtu 9000 up
ip address add $GUEST4/24 dev eth1
ip address add $GUEST6/64 dev eth1
rdma link delete rxe0
rdma link add rxe0 type rxe netdev eth1
rdma link show rxe0/1 | grep 'state ACTIVE'"
