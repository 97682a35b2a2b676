#!/usr/bin/env python3
"""Server CPU per READ of read_responder, one column per set of options, in interleaved rounds; prints medians.

Each set of options is one argument, such as "--copy-below 8192"; "" is the defaults. A cell is
`server CPU micros per READ, median (least) / thousand READs per second`; on a busy machine the least says more.
"""
import argparse
import json
import os
import statistics
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def numbers(text):
    return [int(part) for part in text.split(",")]


def measure(args, options, window, size):
    """One round of one cell: a fresh responder, one run of the load, their figures."""
    command = [args.programs + "/read_responder", "--cpu", str(args.server_cpu), "--region", str(args.region), *options.split()]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        port = server.stdout.readline().split()[1]
        load = subprocess.run(
            [args.programs + "/load", "--port", port, "--cpu", str(args.load_cpu), "--connections", str(args.connections),
             "--window", str(window), "--size", str(size), "--region", str(args.region), "--seconds", str(args.seconds),
             "--warmup", "0.3", "--server-pid", str(server.pid)], stdout=subprocess.PIPE, check=True, text=True)
        server.stdin.close()
        json.loads(server.stdout.readline())
    return json.loads(load.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage="%(prog)s [options] ['RESPONDER OPTIONS']...")
    parser.add_argument("--programs", default=HERE + "/../target/native")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--windows", type=numbers, default=[1, 16])
    parser.add_argument("--sizes", type=numbers, default=[1024, 10240, 102400])
    parser.add_argument("--server-cpu", type=int, default=1)
    parser.add_argument("--load-cpu", type=int, default=0)
    parser.add_argument("--region", type=int, default=64 << 20)
    args, variants = parser.parse_known_args()
    variants = variants or [""]
    print("window   size  " + "  ".join(f"{v or 'defaults':>22}" for v in variants), flush=True)
    for window in args.windows:
        for size in args.sizes:
            rounds = [[measure(args, v, window, size) for v in variants] for _ in range(args.rounds)]
            cells = []
            for variant, column in zip(variants, zip(*rounds)):
                cpu = [r["serverCpuMicrosPerRead"] for r in column]
                rate = statistics.median(r["readsPerSecond"] for r in column)
                cells.append(f"{statistics.median(cpu):.2f} ({min(cpu):.2f}) / {rate / 1000:.1f}".rjust(max(22, len(variant))))
            print(f"{window:6} {size:6}  " + "  ".join(cells), flush=True)


main()
