#!/usr/bin/env bash
# All tests that need no GPU: C unit tests, then pytest (Python side, conformance, end to end).
# Last line: "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.." || exit
python=$(tools/find_python.sh)
passed=0
failed=0

# count LOG: adds what the log's summary lines report.
count() {
    local good bad
    good=$(grep -oE '[0-9]+ passed' "$1" | tail -1 | cut -d' ' -f1)
    bad=$(grep -oE '[0-9]+ failed' "$1" | tail -1 | cut -d' ' -f1)
    errors=$(grep -oE '[0-9]+ errors?' "$1" | tail -1 | cut -d' ' -f1)
    passed=$((passed + ${good:-0}))
    failed=$((failed + ${bad:-0} + ${errors:-0}))
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT

make --no-print-directory unit 2>&1 | tee "$log"
[ "${PIPESTATUS[0]}" -eq 0 ] || grep -q 'unit: .* [1-9][0-9]* failed' "$log" || failed=$((failed + 1))
count "$log"

tools/setup.sh browser || true # without it the tests of reports are skipped and say so

# A file's tests stay together: they share judges, runs and worlds.
"$python" -m pytest -q -m 'not gpu' -n "$(nproc)" --dist loadfile --durations=10 tests 2>&1 | tee "$log"
[ "${PIPESTATUS[0]}" -eq 0 ] || grep -qE '[0-9]+ (failed|errors?)' "$log" || failed=$((failed + 1))
count "$log"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
