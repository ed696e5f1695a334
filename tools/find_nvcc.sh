#!/usr/bin/env bash
# Prints the nvcc to use, in this order: $PKBENCH_NVCC, PATH, /usr/local/cuda, the wheels in .venv.
# Exit 1 if there is none. `find_nvcc.sh --include` prints its headers' folder instead.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

find_nvcc() {
    local candidate
    for candidate in "${PKBENCH_NVCC:-}" "$(command -v nvcc)" /usr/local/cuda/bin/nvcc \
        "$root"/.venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc; do
        if [ -n "$candidate" ] && [ -x "$candidate" ]; then
            echo "$candidate"
            return 0
        fi
    done
    return 1
}

nvcc=$(find_nvcc) || exit 1
if [ "${1:-}" = --include ]; then
    # nvcc itself says where its toolkit is, also behind a wrapper script.
    "$nvcc" --dryrun -x cu /dev/null 2>&1 | sed -n 's/^#\$ TOP=//p' | while read -r top; do
        for folder in "$top/include" "$top/targets/x86_64-linux/include"; do
            [ -e "$folder/cuda_runtime_api.h" ] && realpath "$folder" && break
        done
    done
else
    echo "$nvcc"
fi
