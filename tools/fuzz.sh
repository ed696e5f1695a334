#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the PTX translator with sanitizers into build-asan/ and feeds it with mutated PTX.
# Usage: tools/fuzz.sh [COUNT]
set -euo pipefail
cd "$(dirname "$0")/.."

count=${1:-100000}
program=build-asan/fuzz_translator

mkdir -p build-asan
echo "*" >build-asan/.gitignore
${CC:-gcc} -std=c11 -D_GNU_SOURCE -I. -O1 -g -fsanitize=address,undefined \
    -fno-sanitize-recover=all -fno-omit-frame-pointer \
    tests/fuzz/fuzz_translator.c harness/cpu/translator/*.c base/buf.c base/error.c \
    -o "$program"
exec "$program" "$count" tests/fuzz/corpus/*.ptx
