# Programs that talk to each other, of rdma-core and of perftest, a line each; `command` makes a side's command line of it. Sourced.

# Those that compare what they get, or count it.
comparing() {
    local kind
    echo "rping ROLE -a ADDRESS -V -C 10 -S 4096 -p PORT"
    echo "ucmatose BIND -c 5 -C 5 -S 1000 -p PORT"
    echo "udaddy BIND -c 3 -C 5 -S 1000"
    for kind in rc uc ud srq; do
        echo "ibv_${kind}_pingpong -c -n 100 -s 1024 -g GID -p PORT"
        echo "ibv_${kind}_pingpong -c -e -n 100 -s 1024 -g GID -p PORT"
    done
}

# perftest's eight tools: with addresses that they exchange by TCP, by rdma_cm, and in their other shapes. They try again for seven seconds
# (-u), not for half a one: a busy machine may not run the other side for so long.
measuring() {
    local tool
    for tool in read_lat read_bw write_lat write_bw send_lat send_bw atomic_lat atomic_bw; do
        echo "ib_$tool -F -u 18 -n 50 -x GID -p PORT"
        echo "ib_$tool -R -F -u 18 -n 50 -p PORT"
    done
    for tool in write_lat write_bw send_lat send_bw; do echo "ib_$tool -c UC -F -u 18 -n 50 -x GID -p PORT"; done
    for tool in send_lat send_bw; do echo "ib_$tool -c UD -F -u 18 -n 50 -x GID -p PORT"; done
    for tool in read_lat read_bw send_lat send_bw atomic_lat atomic_bw; do echo "ib_$tool -e -F -u 18 -n 50 -x GID -p PORT"; done
    echo "ib_send_bw --use-srq -q 2 -F -u 18 -n 50 -x GID -p PORT"
    echo "ib_send_lat --use-srq -F -u 18 -n 50 -x GID -p PORT"
}
