#!/usr/bin/env bash
# Runs the C unit tests given as arguments, each in a process of its own with a time limit, and
# prints the output of those that fail. Last line: "unit: N passed, N failed" (test functions).
set -uo pipefail
limit_s=${PKB_UNIT_TIMEOUT_S:-120}
passed=0
failed=0
for program in "$@"; do
    log=$(mktemp)
    if timeout "$limit_s" "$program" >"$log" 2>&1; then
        status=ok
    else
        status=FAILED
        cat "$log"
    fi
    good=$(grep -c '^\[       OK \]' "$log")
    bad=$(grep -c '^\[  FAILED  \] [^0-9]' "$log")
    if [ "$status" = FAILED ] && [ "$bad" -eq 0 ]; then
        bad=1 # crashed or timed out before cmocka could count
    fi
    # cmocka names each failed test twice: when it fails and in the summary.
    if [ "$bad" -gt 1 ]; then bad=$(((bad + 1) / 2)); fi
    passed=$((passed + good))
    failed=$((failed + bad))
    printf '%-6s %-28s %d tests\n' "$status" "$(basename "$program")" "$((good + bad))"
    rm -f "$log"
done
echo "unit: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
