#!/usr/bin/env bash
# Proves that includes and imports only point down: evaluator -> harness -> base. The agents know no
# header, the problems and references know nobody.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
bad=0

# forbid FOLDER REGEX WHY: no file below FOLDER may include or import what matches.
forbid() {
    local hits
    hits=$(git grep -nE "^[[:space:]]*(#[[:space:]]*include[[:space:]]+[<\"]|(from|import)[[:space:]]+)($2)" -- "$1")
    if [ -n "$hits" ]; then
        echo "$hits"
        echo "layers: $3"
        bad=1
    fi
}

forbid base 'harness|evaluator|agents|tests' 'base/ depends on nothing of ours'
forbid harness 'evaluator|agents|tests' 'harness/ depends on base/ only'
forbid harness/memory 'harness/(judge|cell|sandbox|runner|cpu|cuda)' 'memory/ is shared by all processes'
forbid harness/sandbox 'harness/(judge|cell|runner|cpu|cuda)' 'sandbox/ knows nobody above it'
forbid harness/cell 'harness/(judge|runner)' 'a cell never sees the judge'
forbid harness/cuda 'harness/(judge|cell|sandbox|runner|cpu)' 'cuda/ serves judges and cells alike'
forbid harness/judge 'harness/(cell|cpu)' 'a judge never contains the attempt side'
forbid harness/cpu/translator 'harness/(judge|cell|memory|sandbox|cpu/(device|cudart))' 'the translator stands alone'
forbid harness/cpu/device 'harness/(judge|cell|memory|sandbox|cpu/translator)' 'the CPU device stands alone'
forbid harness/cpu/cudart 'harness/(judge|cell|memory|sandbox|cpu/translator)' 'the CPU device stands alone'
forbid evaluator 'harness/(cell|cpu)|agents|tests' 'the evaluator never loads an attempt'
for part in attempt compile completion console lane machine problem ranks record report run score \
    worker; do
    forbid "evaluator/$part" 'evaluator/verbs' 'only main knows the verbs'
done
for low in console machine problem; do
    forbid "evaluator/$low" 'evaluator/(attempt|compile|completion|lane|ranks|record|report|run|score|worker)' "$low/ knows nobody above it"
done
forbid evaluator/score 'evaluator/(attempt/evaluation|compile|ranks|report|run)' 'a score is made of records alone'
forbid evaluator/report 'evaluator/(attempt/evaluation|compile|ranks|run)' 'a report is made of records and scores'
forbid agents 'base|harness|evaluator' 'agents/ uses the command line and JSON only'
forbid problems 'base|harness|evaluator|agents' 'problems/ knows nobody'
forbid references 'base|harness|evaluator|agents' 'references/ knows nobody'

# No public C header drags CUDA in, except those that an attempt includes.
hits=$(git grep -lE '#include <cuda' -- 'base/*.h' 'harness/*.h' 'evaluator/*.h' \
    ':!harness/include' ':!harness/cpu/cudart' ':!harness/cuda')
if [ -n "$hits" ]; then
    echo "$hits"
    echo 'layers: a C header includes CUDA'
    bad=1
fi
exit "$bad"
