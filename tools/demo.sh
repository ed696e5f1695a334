#!/usr/bin/env bash
# The main job on the CPU device: three right attempts and two wrong ones, each judged on two ranks.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

# show EXPECTED_STATUS FILE: judges FILE at its small sizes and stops the demo on a surprise.
show() {
    echo
    echo "\$ pkbench eval $2 -n 2 --sizes tiny --device cpu"
    build/pkbench eval "$2" -n 2 --sizes tiny --device cpu
    local status=$?
    if [ "$status" -ne "$1" ]; then
        echo "demo: $2 ended with status $status, not $1; 'build/pkbench doctor' may tell why" >&2
        exit 1
    fi
}

show 0 examples/001_allreduce.cu
show 0 examples/013_gemm_allreduce.cu
show 0 examples/026_moe_token_preprocess.cu
show 1 tests/zoo/001_no_entry_wait.cu
show 1 tests/zoo/001_does_not_compile.cu

cat <<'EOT'

Three right attempts passed, and two wrong ones were told what is wrong.
Next:  build/pkbench problems            what there is
       build/pkbench new 13 -o mine.cu   a skeleton of your own, for problem 13
       build/pkbench eval mine.cu -p 13  is it right?
EOT
