#!/usr/bin/env bash
# Builds and tests on a GPU machine that has no network: CUDA, gcc, Open MPI and a python3 with
# PyTorch are there; what else is needed comes from .carry/ (tools/gpu_carry.sh). Nothing of the
# machine is changed. Logs go to $OUT (default build/gpu_check), a table to standard output.
#   tools/gpu_check.sh            build, doctor, GPU tests, examples
#   tools/gpu_check.sh tests      build, doctor, GPU tests
#   tools/gpu_check.sh zoo        build, the whole zoo
# shellcheck disable=SC2317  # functions are called by step
set -uo pipefail
cd "$(dirname "$0")/.." || exit
out=${OUT:-$PWD/build/gpu_check}
prefix=$(mktemp -d /tmp/pkb-carry-XXXXXX)
trap 'rm -rf "$prefix"' EXIT
mkdir -p "$out"
export PKBENCH_PYTHON=${PKBENCH_PYTHON:-$(command -v python3)}
failed=0

# step NAME LIMIT COMMAND...: one row of the table; the output goes to $out/NAME.log.
step() {
    local name=$1 limit=$2 start=$SECONDS status
    shift 2
    timeout -k 5 "$limit" bash -c '"$@"' step "$@" >"$out/$name.log" 2>&1
    status=$?
    [ "$status" -eq 0 ] || failed=1
    printf '%-10s %-8s %4d s   %s\n' "$name" "$([ "$status" -eq 0 ] && echo ok || echo "exit $status")" \
        "$((SECONDS - start))" "$(tail -n 1 "$out/$name.log" | cut -c 1-100)"
}

unpack() {
    local deb lib=$prefix/usr/lib/x86_64-linux-gnu crypto
    for deb in .carry/*.deb; do
        [ -e "$deb" ] && dpkg -x "$deb" "$prefix"
    done
    # Headers of Debian's OpenSSL, library of this machine.
    crypto=$(ldconfig -p | sed -n 's/.*=> \(.*libcrypto\.so\.3\)$/\1/p' | head -n 1)
    [ -z "$crypto" ] || [ ! -d "$lib" ] || ln -sf "$crypto" "$lib/libcrypto.so"
    export PATH=$prefix/usr/bin:$PATH
    export CPATH=$prefix/usr/include:$prefix/usr/include/x86_64-linux-gnu${CPATH:+:$CPATH}
    export LIBRARY_PATH=$lib${LIBRARY_PATH:+:$LIBRARY_PATH}
    export LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}

# Set-up would ask apt and pip, which cannot answer here.
build() {
    mkdir -p build && touch build/.setup
    make -j"$(nproc)" all gpu-programs
}

machine() {
    uname -r
    ls -l /dev/nvidia*
    ldconfig -p | grep -E 'libcuda\.so|libseccomp|libcap\.so|libselinux|libcrypto'
    echo "LD_LIBRARY_PATH=$LD_LIBRARY_PATH"
    command -v bwrap mpirun nvcc gcc python3
    nvidia-smi topo -m
    gcc --version | head -n 1
}

programs() {
    local program bad=0
    for program in build/tests/gpu/test_*; do
        "$program" 2>&1 || bad=1
    done
    return "$bad"
}

# Every example, all sizes, as a user would; one line each, records beside the logs.
examples() {
    local file bad=0
    for file in examples/*.cu; do
        build/pkbench eval "$file" --device cuda -o "$OUT/records.jsonl" || bad=1
    done
    return "$bad"
}

export OUT=$out
export -f build machine programs examples

unpack
step machine 30 machine
step build 240 build
if [ "${1:-all}" = zoo ]; then
    step zoo 240 "$PKBENCH_PYTHON" -m pytest -q -m gpu tests/gpu/test_zoo.py
    exit "$failed"
fi
step doctor 60 build/pkbench doctor
step programs 150 programs
if [ "${1:-all}" = all ]; then
    step pytest 260 "$PKBENCH_PYTHON" -m pytest -q -m gpu tests \
        --deselect tests/gpu/test_programs.py --ignore tests/python --ignore tests/gpu/test_zoo.py
    step examples 120 examples
fi
exit "$failed"
