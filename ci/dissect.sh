# Shared by the scripts that hold captures of iWARP against the counters of our engine: what Wireshark's dissector makes of
# them. Sourced, never run, after ci/lib.sh. Callers set work (a folder for files) and title (what the run is called).

# knows_iwarp: this machine's tshark reads it.
knows_iwarp() { tshark -G protocols 2>/dev/null | grep -q iwarp_mpa; }

# read_frames FILE ARGUMENTS: what tshark makes of a capture. The dissectors that take any SEND for NFS or SMB are off.
read_frames() {
    local file=$1
    shift
    tshark -n -r "$file" --disable-protocol rpcordma --disable-protocol smb_direct "$@" tcp 2>"$work/tshark.log" || {
        cat "$work/tshark.log" >&2
        die "$title: tshark failed"
    }
}

# complains TEXT: shows what the dissector complains about, if it does.
complains() {
    grep -m 10 -E 'Malformed Packet|Dissector bug|Reassembly error|Expert Info \(Error|Bad length|CRC.*Bad' "$1"
}

# list_segments FILE: $work/pdus, a line per frame that has segments: ports and opcodes.
list_segments() {
    read_frames "$1" -T fields -E occurrence=a -E aggregator=, -e tcp.srcport -e tcp.dstport -e iwarp_rdma.opcode |
        awk 'NF > 2' >"$work/pdus"
}

# dissected to|from PORT OPCODES: segments of these opcodes in $work/pdus, to that port or back.
dissected() {
    awk -v way="$1" -v port="$2" -v opcodes=" $3 " '
        (way == "to" ? $2 : $1) == port { n = split($3, each, ","); for (i = 1; i <= n; i++) if (index(opcodes, " " each[i] + 0 " ")) sum++ }
        END { print sum + 0 }' "$work/pdus"
}

# counted FILE NAME: a counter that an end has written to $work/FILE.json.
counted() { sed -n "s/^ *\"$2\" : \([0-9]*\),*\$/\1/p" "$work/$1.json"; }

# require_clean FILE CRC TOTAL: fails unless the dissector has nothing to complain about, and with CRC finds as many good
# ones as there are segments and a handshake that agreed on it, without it none.
require_clean() {
    local agreed good
    read_frames "$1" -V >"$work/text"
    if complains "$work/text" >&2; then die "$title: the dissector complains (above)"; fi
    agreed=$(grep -Ec 'CRC flag: +(Set|True)' "$work/text" || true)
    good=$(grep -c 'Good CRC32' "$work/text" || true)
    if [ "$2" = on ]; then
        [ "$agreed" -gt 0 ] || die "$title: no handshake has the CRC flag"
        [ "$good" -eq "$3" ] || die "$title: $good good CRCs in $3 segments"
    else
        [ "$agreed" -eq 0 ] || die "$title: a handshake has the CRC flag"
    fi
}
