#!/usr/bin/env bash
# install.sh PREFIX: the command in PREFIX/bin, what it needs in PREFIX/libexec/pkbench (same shape
# as the project, so that every part finds the others relative to itself).
# install.sh --uninstall PREFIX: takes both away again.
set -euo pipefail
usage='usage: install.sh [--uninstall] PREFIX'

action=install
if [ "${1:-}" = --uninstall ]; then
    action=uninstall
    shift
fi
prefix=$(realpath -m -- "${1:?$usage}") # of the caller's folder; the command keeps it for ever
root=$prefix/libexec/pkbench
cd "$(dirname "$0")/.."

if [ "$action" = uninstall ]; then
    if [ ! -x "$root/build/pkbench" ]; then
        echo "there is no pkbench below $prefix (PREFIX)" >&2
        exit 1
    fi
    rm -rf -- "$root"
    rm -f -- "$prefix/bin/pkbench"
    echo "removed: $prefix/bin/pkbench and $root"
    exit
fi

mkdir -p "$prefix/bin" "$root/build/lib"
cp -r problems references tools "$root/"
mkdir -p "$root/harness/cpu" "$root/examples"
cp -r harness/include harness/runner "$root/harness/"
mkdir -p "$root/harness/cpu/device"
cp harness/cpu/device/*.h "$root/harness/cpu/device/"
mkdir -p "$root/evaluator/export"
cp evaluator/export/parquet.py "$root/evaluator/export/"
cp examples/*.cu "$root/examples/"
cp build/pkbench build/pkbench-* "$root/build/"
cp build/lib/* "$root/build/lib/"
mkdir -p "$root/evaluator/report" "$root/build/share"
cp -r evaluator/report/page "$root/evaluator/report/"
[ ! -e build/share/echarts.min.js ] || cp build/share/echarts.min.js "$root/build/share/"
printf '#!/bin/sh\nPKBENCH_ROOT="%s" exec "%s/build/pkbench" "$@"\n' "$root" "$root" >"$prefix/bin/pkbench"
chmod +x "$prefix/bin/pkbench"
echo "installed: $prefix/bin/pkbench (set PKBENCH_PYTHON to a Python that has torch)"
