#!/usr/bin/env bash
# Installs what the project needs and this machine lacks: Debian packages, a Python environment with
# PyTorch in .venv/, and nvcc from PyPI where there is none. Installs nothing twice; run by make.
#   tools/setup.sh          what building, testing and judging need
#   tools/setup.sh lint     the linters as well
#   tools/setup.sh browser  what the tests of reports need as well: Playwright and, if there is none, chromium
# PKBENCH_PYTHON names another interpreter that has torch: then no .venv is made.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(gcc g++ make python3 python3-venv openmpi-bin libcjson-dev libseccomp-dev libssl-dev
    bubblewrap libcmocka-dev)
if [ "${1:-}" = lint ]; then
    packages=(clang-format-14 clang-tidy-14 cppcheck shellcheck)
elif [ "${1:-}" = browser ]; then
    packages=(chromium fonts-dejavu-core)
fi

say() { echo "setup: $*" >&2; }

# A package counts as there if dpkg knows it or, for programs, if PATH has it from elsewhere.
is_there() {
    case "$1" in
    gcc | g++ | make | python3 | cppcheck | shellcheck) command -v "$1" >/dev/null && return 0 ;;
    chromium) command -v chromium >/dev/null || command -v chromium-browser >/dev/null && return 0 ;;
    fonts-dejavu-core) fc-list 2>/dev/null | grep -q . && return 0 ;; # any font will do
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

make_venv() {
    .venv/bin/python -m pip --version >/dev/null 2>&1 || python3 -m venv .venv
}

# install_tools NAME CHECK...: what tools/requirements-NAME.txt lists, unless just that is there;
# CHECK is a command that works then.
install_tools() {
    local wanted=tools/requirements-$1.txt installed=.venv/requirements-$1.installed
    ! cmp -s "$wanted" "$installed" || return 0
    say "installing into .venv: $(tr '\n' ' ' <"$wanted")"
    make_venv
    pip_install "$wanted"
    "${@:2}" >/dev/null || {
        say "pip could not install $wanted into .venv"
        return 1
    }
    cp "$wanted" "$installed"
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
        make_venv
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
    make_venv
    pip_install "$wanted"
    tools/find_nvcc.sh >/dev/null || {
        say "pip could not install nvcc; install CUDA 13 or set PKBENCH_NVCC"
        return 1
    }
    cp "$wanted" "$installed"
}

# The plotting library of reports: the ECharts (Apache-2.0) that a package on PyPI carries. Without it
# all but reports works.
fetch_charts() {
    local charts=.venv/share/pkbench/echarts.min.js folder how=()
    local sha256=a1911a5e05aac4b9abd7657308af5e18eb87222dd73d9fcab095d7163b72bd90
    ! sha256sum --status -c <<<"$sha256  $charts" 2>/dev/null || return 0
    say "fetching ECharts, which draws the charts of reports (7 MB)"
    make_venv || true
    folder=$(mktemp -d)
    ! .venv/bin/python -c 'import setuptools.command.bdist_wheel' 2>/dev/null || how=(--no-build-isolation) # quicker
    .venv/bin/python -m pip download -q --disable-pip-version-check --retries 2 --no-deps --require-hashes \
        "${how[@]}" -d "$folder" -r tools/requirements-report.txt 2>&1 | grep -v '^WARNING' >&2 || true
    tar -xzf "$folder"/ezcharts-*.tar.gz -C "$folder" --wildcards --strip-components=4 \
        'ezcharts-*/ezcharts/data/vendor/echarts.min.js' 2>/dev/null || true
    if sha256sum --status -c <<<"$sha256  $folder/echarts.min.js" 2>/dev/null; then
        mkdir -p "${charts%/*}"
        cp "$folder/echarts.min.js" "$charts.new"
        mv "$charts.new" "$charts"
    else
        say "ECharts could not be fetched: pkbench report will not work until tools/setup.sh and make" \
            "are called again with a network"
    fi
    rm -rf "$folder"
}

# One set-up at a time: several work trees may share a .venv.
mkdir -p .venv
exec 9>.venv/setup.lock
flock 9

if [ "${1:-}" = lint ]; then
    install_packages
    install_tools lint .venv/bin/oxlint --version
    exit
fi
if [ "${1:-}" = browser ]; then
    install_packages
    [ -n "${PKBENCH_PYTHON:-}" ] || install_tools browser .venv/bin/python -c 'import playwright'
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
fetch_charts
