#!/usr/bin/env bash
# install.sh PREFIX: the command in PREFIX/bin, what it needs in PREFIX/libexec/pkbench (same shape
# as the project, so that every part finds the others relative to itself).
set -euo pipefail
cd "$(dirname "$0")/.."
prefix=${1:?usage: install.sh PREFIX}
root=$prefix/libexec/pkbench

mkdir -p "$prefix/bin" "$root/build/lib"
cp -r problems references tools "$root/"
mkdir -p "$root/harness/cpu" "$root/examples"
cp -r harness/include harness/runner "$root/harness/"
mkdir -p "$root/harness/cpu/device"
cp harness/cpu/device/*.h "$root/harness/cpu/device/"
cp examples/*.cu "$root/examples/"
cp build/pkbench build/pkbench-* "$root/build/"
cp build/lib/* "$root/build/lib/"
printf '#!/bin/sh\nPKBENCH_ROOT="%s" exec "%s/build/pkbench" "$@"\n' "$root" "$root" >"$prefix/bin/pkbench"
chmod +x "$prefix/bin/pkbench"
echo "installed: $prefix/bin/pkbench (set PKBENCH_PYTHON to a Python that has torch)"
