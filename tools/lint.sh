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
mapfile -t page_files < <(git ls-files 'evaluator/report/page/*')
mapfile -t shell_files < <(git ls-files '*.sh' .ci/run)

if [ "${1:-}" = --fix ]; then
    clang-format-14 -i "${style_files[@]}"
    .venv/bin/oxfmt "${page_files[@]}"
    "$python" -m ruff format -q .
    "$python" -m ruff check -q --fix .
    exit
fi

check_format() { clang-format-14 --dry-run --Werror "${style_files[@]}"; }
check_ruff() { "$python" -m ruff check -q . && "$python" -m ruff format -q --check .; }
# Of a report's page the formatter leaves long texts as they are.
check_page() {
    .venv/bin/oxfmt --check "${page_files[@]}" && .venv/bin/oxlint --deny-warnings "${page_files[@]}" &&
        awk 'length > 100 { print FILENAME ":" FNR ": over 100 columns"; bad = 1 } END { exit bad }' "${page_files[@]}"
}
check_shell() { shellcheck "${shell_files[@]}"; }
check_layers() { tools/check_layers.sh; }
check_links() { tools/check_links.sh; }
check_cppcheck() {
    cppcheck -q -j "$jobs" --std=c11 --enable=warning,portability,performance --error-exitcode=1 \
        --inline-suppr --suppressions-list=tools/cppcheck.txt -I. "${c_files[@]}" 2>&1
}
# One file a call: with several, clang-tidy 14 mistakes va_lists of the later ones as uninitialised.
# A file that passed is not looked at again as long as nothing changes: its text, what it includes
# with all comments, the settings, and this script. A clean clone knows of none that passed.
tidy_file() {
    local words=(-std=c11 -D_GNU_SOURCE -I. -I"$PKB_CUDA_INCLUDE") key
    key=$({ echo "$PKB_TIDY_SETTINGS" && cat "$1" && gcc -E -C "${words[@]}" "$1"; } 2>&1 | sha256sum)
    [ ! -e "$PKB_TIDY_PASSED/${key%% *}" ] || return 0
    clang-tidy-14 --quiet "$1" -- "${words[@]}" 2>/dev/null || return 1
    : >"$PKB_TIDY_PASSED/${key%% *}"
}
check_tidy() {
    mkdir -p "$PKB_TIDY_PASSED"
    find "$PKB_TIDY_PASSED" -type f -mtime +14 -delete
    printf '%s\n' "${c_files[@]}" | xargs -P "$jobs" -n 1 bash -c 'tidy_file "$@"' tidy
}
PKB_CUDA_INCLUDE=$(tools/find_nvcc.sh --include)
PKB_TIDY_PASSED=build/tidy
PKB_TIDY_SETTINGS=$(clang-tidy-14 --version && cat .clang-tidy tools/lint.sh)
export PKB_CUDA_INCLUDE PKB_TIDY_PASSED PKB_TIDY_SETTINGS
export -f tidy_file

passed=0
failed=0
for name in format layers links shell ruff page cppcheck tidy; do
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
