#!/bin/sh
# Tests the C yardsticks in a directory (default: where `make` puts them), with every variant of the responder.
# Prints "N passed, N failed"; exit status 1 if any failed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
programs=${1:-$here/../target/native}
[ -x "$programs/read_responder" ] || make -C "$here" OUT="$(mkdir -p "$programs" && cd "$programs" && pwd)"
exec python3 "$here/selftest.py" "$programs"
