#!/usr/bin/env bash
# Builds biogpu as a Debian package: the CPU's part, with the libraries of the distribution.
#
# usage: scripts/packaging/deb.sh [BUILD_FOLDER]     [build/deb]
set -euo pipefail

cd "$(dirname "$0")/../.."
build=${1:-build/deb}
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
  -DBIOGPU_GPU=none -DBIOGPU_DEVELOPER_MODE=OFF -DBIOGPU_SYSTEM_LIBRARIES=ON >/dev/null
cmake --build "$build"
rm -f "$build"/*.deb
(cd "$build" && cpack -G DEB >cpack.log) || { tail -n 20 "$build/cpack.log" >&2; exit 1; }
ls "$build"/*.deb
