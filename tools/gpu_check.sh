#!/usr/bin/env bash
# Builds, tests and measures on a GPU machine that has no network: CUDA, gcc, Open MPI and a python3
# with PyTorch are there; what else is needed comes from .carry/ (tools/gpu_carry.sh). Nothing of the
# machine is changed. Usage: tools/gpu_check.sh [STEP[=SECONDS][+STEP...]...], by default the steps
#   doctor programs pytest examples
# and there are: zoo again handover same tricks spread tutorial folder suite sixty worlds kill refusals
# calibrate audit large conformance (tests/gpu/measure and tests/conformance say what they measure), limits and debug
# (tests/gpu), cores (tests that need more than two). Steps with a + between them run side by side, which
# those that time or look at the memory of all refuse. Whatever a step does, the next one follows, and all ends
# within $GPU_CHECK_LIMIT seconds (560). A table goes to standard output, logs and records to build/gpu_check;
# with $OUT set they are packed into $OUT/records.tar.gz as well. `calibrate` writes into problems/, and what
# changed is in the records.
# shellcheck disable=SC2317  # functions are called by step
set -uo pipefail
cd "$(dirname "$0")/.." || exit
limit=${GPU_CHECK_LIMIT:-560}
out=$PWD/build/gpu_check
prefix=$(mktemp -d /tmp/pkb-carry-XXXXXX)
trap 'rm -rf "$prefix"' EXIT
rm -rf "$out"
mkdir -p "$out"
export PKBENCH_PYTHON=${PKBENCH_PYTHON:-$(command -v python3)}
export NCCL_NVLS_ENABLE=0 PYTHONUNBUFFERED=1
device=${GPU_CHECK_DEVICE:-cuda} # cpu: only to try this script out
failed=0

declare -A budgets=([machine]=20 [build]=150 [doctor]=40 [programs]=120 [pytest]=240 [zoo]=200
    [again]=330 [handover]=80 [same]=110 [tricks]=170 [spread]=300 [examples]=400 [tutorial]=120
    [folder]=120 [suite]=300 [sixty]=500 [worlds]=240 [kill]=110 [refusals]=60 [calibrate]=400
    [audit]=300 [large]=240 [conformance]=150 [limits]=90 [debug]=150 [cores]=60)
tables=" zoo again handover same tricks spread examples tutorial folder suite sixty worlds kill refusals
 calibrate audit large conformance "
# Neither time anything that counts nor look at memory that others use.
sociable=" doctor zoo calibrate audit conformance debug cores "

pack() {
    [ -z "${OUT:-}" ] || tar -C "$out" --exclude scratch --exclude conformance -czf "$OUT/records.tar.gz" .
}

# step NAME SECONDS COMMAND...: one row of the table; the output goes to NAME.log. Fails if it does.
step() {
    local name=$1 seconds=$2 start=$SECONDS status left=$((limit - SECONDS - 5))
    shift 2
    [ "$seconds" -le "$left" ] || seconds=$left
    if [ "$seconds" -lt 15 ]; then
        printf '%-11s no time left\n' "$name"
        return 1
    fi
    BUDGET=$((seconds - 8)) timeout -k 5 "$seconds" bash -c '"$@"' step "$@" >"$out/$name.log" 2>&1
    status=$?
    printf '%-11s %-8s %4d s' "$name" "$([ "$status" -eq 0 ] && echo ok || echo "exit $status")" \
        "$((SECONDS - start))"
    if [[ $status -eq 0 && $tables == *[[:space:]]"$name"[[:space:]]* ]]; then
        printf '\n'
        head -c 5000 "$out/$name.log"
    else
        printf '   %s\n' "$(tail -n 1 "$out/$name.log" | cut -c 1-200)"
    fi
    return "$status"
}

# do_step NAME[=SECONDS]
do_step() {
    local name=${1%%=*} seconds
    seconds=${budgets[$name]:-}
    [ "$1" = "$name" ] || seconds=${1#*=}
    case $name in
    doctor | programs | pytest | limits | debug | cores | conformance) step "$name" "$seconds" "$name" ;;
    zoo | again | handover | same | tricks | spread | examples | tutorial | folder | suite | sixty | worlds | \
        kill | refusals | calibrate | audit | large) step "$name" "$seconds" measure "$name" ;;
    *)
        echo "$name: no such step" >&2
        return 1
        ;;
    esac
}

# side_by_side STEP...: their rows come in the order asked for, when all have ended.
side_by_side() {
    local asked place=0 pids=()
    for asked in "$@"; do
        if [[ $sociable != *" ${asked%%=*} "* ]]; then
            echo "${asked%%=*}: runs alone only, for others would change what it reads" >&2
            failed=1
            return
        fi
    done
    for asked in "$@"; do
        do_step "$asked" >"$prefix/row$place" 2>&1 &
        pids+=($!)
        place=$((place + 1))
    done
    for place in "${!pids[@]}"; do
        wait "${pids[$place]}" || failed=1
        cat "$prefix/row$place"
    done
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
    nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw \
        --format=csv
    gcc --version | head -n 1
}

programs() {
    local program bad=0
    for program in build/tests/gpu/test_*; do
        "$program" 2>&1 || bad=1
    done
    return "$bad"
}

doctor() {
    build/pkbench doctor
}

pytest() {
    "$PKBENCH_PYTHON" -m pytest -q -m gpu tests --deselect tests/gpu/test_programs.py \
        --ignore tests/python --ignore tests/gpu/test_zoo.py --ignore tests/gpu/test_limits.py \
        --ignore tests/gpu/test_debug.py
}

limits() {
    "$PKBENCH_PYTHON" -m pytest -q tests/gpu/test_limits.py
}

debug() {
    "$PKBENCH_PYTHON" -m pytest -q tests/gpu/test_debug.py
}

cores() {
    "$PKBENCH_PYTHON" -m pytest -q -m cores tests/e2e
}

conformance() {
    "$PKBENCH_PYTHON" -m tests.conformance.on_gpu --out "$RECORDS" --device "$DEVICE"
}

measure() {
    "$PKBENCH_PYTHON" -m tests.gpu.measure "$1" --out "$RECORDS" --budget "$BUDGET" --device "$DEVICE"
}

export RECORDS=$out DEVICE=$device
export -f build machine programs doctor pytest limits debug cores conformance measure

unpack
step machine "${budgets[machine]}" machine || failed=1
step build "${budgets[build]}" build || { grep -m 5 -iE "error|\*\*\*" "$out/build.log"; pack; exit 1; }
[ $# -gt 0 ] || set -- doctor programs pytest examples
for asked in "$@"; do
    IFS=+ read -ra steps <<<"$asked"
    if [ "${#steps[@]}" -gt 1 ]; then
        side_by_side "${steps[@]}"
    else
        do_step "$asked" || failed=1
    fi
    pack
done
exit "$failed"
