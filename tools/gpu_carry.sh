#!/usr/bin/env bash
# Fetches the Debian packages that tools/gpu_check.sh unpacks on a GPU machine without a network,
# into .carry/ (not in git). Run where apt-get works, before the checkout travels.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(bubblewrap libcjson1 libcjson-dev libseccomp2 libseccomp-dev libcmocka0 libcmocka-dev
    libssl-dev)

mkdir -p .carry
cd .carry
for package in "${packages[@]}"; do
    if ! compgen -G "${package}_*.deb" >/dev/null; then
        apt-get download "$package" ||
            { apt-get update -qq && apt-get download "$package"; }
    fi
done
du -sh .
