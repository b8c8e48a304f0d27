#!/usr/bin/env bash
set -euo pipefail

# The source archive brings Chart.js, which is no conda package.
# shellcheck disable=SC2086  # options, many in one word
cmake -S . -B build-conda -G Ninja ${CMAKE_ARGS:-} \
  -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_INSTALL_PREFIX="$PREFIX" \
  -DCMAKE_UNITY_BUILD=ON \
  -DBIOGPU_GPU=none \
  -DBIOGPU_CCACHE=OFF \
  -DBIOGPU_DEVELOPER_MODE=OFF \
  -DBIOGPU_SYSTEM_LIBRARIES=ON
cmake --build build-conda -j "${CPU_COUNT:-1}"
cmake --install build-conda
