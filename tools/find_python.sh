#!/usr/bin/env bash
# Prints the Python interpreter to use: $PKBENCH_PYTHON, else the project's own environment.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
echo "${PKBENCH_PYTHON:-$root/.venv/bin/python}"
