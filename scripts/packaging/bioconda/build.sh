#!/usr/bin/env bash
set -euo pipefail

# The report's charts: Chart.js is no conda package, so its one file is taken from a folder named here.
chart_js=${BIOGPU_CHART_JS:+-DBIOGPU_CHART_JS=$BIOGPU_CHART_JS}

# shellcheck disable=SC2086  # options, many in one word
cmake -S . -B build-conda -G Ninja ${CMAKE_ARGS:-} \
  -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_INSTALL_PREFIX="$PREFIX" \
  -DBIOGPU_GPU=none \
  -DBIOGPU_DEVELOPER_MODE=OFF \
  -DBIOGPU_SYSTEM_LIBRARIES=ON \
  ${chart_js:+"$chart_js"}
cmake --build build-conda -j "${CPU_COUNT:-1}"
cmake --install build-conda
