#!/usr/bin/env bash
# Everything that can be said about the sources without running them. `--fix` formats instead.
# Last line: "lint: N passed, N failed" (checks).
set -uo pipefail
cd "$(dirname "$0")/.." || exit
tools/setup.sh lint || exit 1

python=$(tools/find_python.sh)
jobs=$(nproc)
mapfile -t c_files < <(git ls-files '*.c')
mapfile -t style_files < <(git ls-files '*.c' '*.h' '*.cu' '*.cuh' ':!tests/fuzz/corpus')
mapfile -t shell_files < <(git ls-files '*.sh' .ci/run)

if [ "${1:-}" = --fix ]; then
    clang-format-14 -i "${style_files[@]}"
    "$python" -m ruff format -q .
    "$python" -m ruff check -q --fix .
    exit
fi

check_format() { clang-format-14 --dry-run --Werror "${style_files[@]}"; }
check_ruff() { "$python" -m ruff check -q . && "$python" -m ruff format -q --check .; }
check_shell() { shellcheck "${shell_files[@]}"; }
check_layers() { tools/check_layers.sh; }
check_cppcheck() {
    cppcheck -q -j "$jobs" --std=c11 --enable=warning,portability,performance --error-exitcode=1 \
        --inline-suppr --suppressions-list=tools/cppcheck.txt -I. "${c_files[@]}" 2>&1
}
# One file a call: with several, clang-tidy 14 mistakes va_lists of the later ones as uninitialised.
tidy_files() { clang-tidy-14 --quiet "$@" -- -std=c11 -D_GNU_SOURCE -I. -I"$PKB_CUDA_INCLUDE" 2>/dev/null; }
check_tidy() { printf '%s\n' "${c_files[@]}" | xargs -P "$jobs" -n 1 bash -c 'tidy_files "$@"' tidy; }
PKB_CUDA_INCLUDE=$(tools/find_nvcc.sh --include)
export PKB_CUDA_INCLUDE
export -f tidy_files

passed=0
failed=0
for name in format layers shell ruff cppcheck tidy; do
    if output=$("check_$name" 2>&1); then
        passed=$((passed + 1))
        echo "ok     $name"
    else
        failed=$((failed + 1))
        echo "$output"
        echo "FAILED $name"
    fi
done
echo "lint: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
