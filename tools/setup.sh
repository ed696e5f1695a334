#!/usr/bin/env bash
# Installs what the project needs and this machine lacks: Debian packages, a Python environment with
# PyTorch in .venv/, and nvcc from PyPI where there is none. Installs nothing twice; run by make.
#   tools/setup.sh          what building, testing and judging need
#   tools/setup.sh lint     the linters as well
# PKBENCH_PYTHON names another interpreter that has torch: then no .venv is made.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(gcc g++ make python3 python3-venv openmpi-bin libcjson-dev libseccomp-dev libssl-dev
    bubblewrap libcmocka-dev)
if [ "${1:-}" = lint ]; then
    packages=(clang-format-14 clang-tidy-14 cppcheck shellcheck)
fi

say() { echo "setup: $*" >&2; }

# A package counts as there if dpkg knows it or, for programs, if PATH has it from elsewhere.
is_there() {
    case "$1" in
    gcc | g++ | make | python3 | cppcheck | shellcheck) command -v "$1" >/dev/null && return 0 ;;
    clang-format-14 | clang-tidy-14) command -v "$1" >/dev/null && return 0 ;;
    python3-venv) python3 -c 'import ensurepip' 2>/dev/null && return 0 ;;
    openmpi-bin) command -v mpirun >/dev/null && return 0 ;;
    bubblewrap) command -v bwrap >/dev/null && return 0 ;;
    esac
    dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q '^install ok installed$'
}

install_packages() {
    local missing=() package root=()
    for package in "${packages[@]}"; do
        is_there "$package" || missing+=("$package")
    done
    [ "${#missing[@]}" -gt 0 ] || return 0
    if ! command -v apt-get >/dev/null; then
        say "this is no Debian or Ubuntu; install what these packages hold: ${missing[*]}"
        return 1
    fi
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            say "neither root nor sudo here; ask for: apt-get install ${missing[*]}"
            return 1
        fi
        root=(sudo)
    fi
    say "installing Debian packages: ${missing[*]}"
    "${root[@]}" apt-get update -qq >&2
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        "${missing[@]}" >/dev/null
}

# pip_install REQUIREMENTS: into .venv; what matters is checked by what is there afterwards.
pip_install() {
    .venv/bin/python -m pip install -q --disable-pip-version-check -r "$1" 2>&1 |
        grep -v '^WARNING' >&2 || true
}

make_environment() {
    local python=.venv/bin/python wanted=tools/requirements.txt installed=.venv/requirements.installed
    if [ -n "${PKBENCH_PYTHON:-}" ]; then
        "$PKBENCH_PYTHON" -c 'import torch, numpy' || {
            say "PKBENCH_PYTHON=$PKBENCH_PYTHON cannot import torch and numpy"
            return 1
        }
        return 0
    fi
    if ! cmp -s "$wanted" "$installed"; then
        say "making .venv with PyTorch (1 GB as a CPU build, 5 GB where pip takes the CUDA build)"
        "$python" -m pip --version >/dev/null 2>&1 || python3 -m venv .venv
        pip_install "$wanted"
        "$python" -c 'import torch, numpy, jsonschema, pytest' || {
            say "pip could not install $wanted into .venv"
            return 1
        }
        cp "$wanted" "$installed"
    fi
}

# nvcc from PyPI goes into .venv, whichever Python runs the references.
install_nvcc() {
    local found wanted=tools/requirements-nvcc.txt installed=.venv/requirements-nvcc.installed
    found=$(tools/find_nvcc.sh) || found=
    case "$found" in
    '' | "$PWD"/.venv/*) cmp -s "$wanted" "$installed" && return 0 ;;
    *) return 0 ;;
    esac
    say "no nvcc found; installing it from PyPI into .venv (about 300 MB)"
    .venv/bin/python -m pip --version >/dev/null 2>&1 || python3 -m venv .venv
    pip_install "$wanted"
    tools/find_nvcc.sh >/dev/null || {
        say "pip could not install nvcc; install CUDA 13 or set PKBENCH_NVCC"
        return 1
    }
    cp "$wanted" "$installed"
}

if [ "${1:-}" = lint ]; then
    install_packages
    exit
fi

# The Python environment needs no Debian package where python3 brings venv: then both at once.
if python3 -c 'import ensurepip' 2>/dev/null; then
    make_environment &
    environment=$!
    install_packages || {
        pkill -P "$environment" 2>/dev/null
        kill "$environment" 2>/dev/null
        exit 1
    }
    wait "$environment"
else
    install_packages
    make_environment
fi
install_nvcc
