#!/usr/bin/env bash
# Runs the C unit tests given as arguments, as many at a time as there are cores, each in a process of
# its own with a time limit, and prints the output of those that fail.
# Last line: "unit: N passed, N failed" (test functions).
set -uo pipefail

# run_one PROGRAM: one line, below what a failed one said; "GOOD BAD" goes into $PKB_UNIT_COUNTS.
run_one() {
    local log status=ok good bad
    log=$(mktemp)
    timeout "${PKB_UNIT_TIMEOUT_S:-600}" "$1" >"$log" 2>&1 || status=FAILED
    good=$(grep -c '^\[       OK \]' "$log")
    bad=$(grep -c '^\[  FAILED  \] [^0-9]' "$log")
    if [ "$status" = FAILED ] && [ "$bad" -eq 0 ]; then
        bad=1 # crashed or timed out before cmocka could count
    fi
    # cmocka names each failed test twice: when it fails and in the summary.
    if [ "$bad" -gt 1 ]; then bad=$(((bad + 1) / 2)); fi
    { # one program's output at a time
        flock 9
        [ "$status" = ok ] || cat "$log"
        printf '%-6s %-28s %d tests\n' "$status" "$(basename "$1")" "$((good + bad))"
        echo "$good $bad" >>"$PKB_UNIT_COUNTS"
    } 9>>"$PKB_UNIT_COUNTS"
    rm -f "$log"
}
export -f run_one

PKB_UNIT_COUNTS=$(mktemp)
export PKB_UNIT_COUNTS
trap 'rm -f "$PKB_UNIT_COUNTS"' EXIT
printf '%s\0' "$@" | xargs -0 -r -P "$(nproc)" -n 1 bash -c 'run_one "$@"' run_one

passed=0
failed=0
while read -r good bad; do
    passed=$((passed + good))
    failed=$((failed + bad))
done <"$PKB_UNIT_COUNTS"
# A program that left no line was lost with its shell.
failed=$((failed + $# - $(wc -l <"$PKB_UNIT_COUNTS")))
echo "unit: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
