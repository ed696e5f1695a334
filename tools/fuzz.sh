#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds what reads texts from outside with sanitizers into build-asan/ and feeds it with mutated
# ones: PTX for the translator, completions, requests, records and plans for their readers.
# Usage: tools/fuzz.sh [COUNT [COUNT_OF_READERS]]
set -euo pipefail
cd "$(dirname "$0")/.."

translations=${1:-100000}
readings=${2:-20000}

make --no-print-directory BUILD=build-asan build-asan/fuzz_translator build-asan/fuzz_readers \
    CFLAGS="-O1 -g -fsanitize=address,undefined -fno-omit-frame-pointer"
export UBSAN_OPTIONS=halt_on_error=1
build-asan/fuzz_translator "$translations" tests/fuzz/corpus/*.ptx
build-asan/fuzz_readers "$readings"
