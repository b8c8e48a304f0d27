#!/usr/bin/env bash
# Configures and builds one preset and runs its tests.
#
# usage: scripts/dev/test_preset.sh PRESET [CTEST OPTION ...]
#
# CTest's output goes to the screen and to build/PRESET/ctest.log, which test_summary.sh reads.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
[ $# -ge 1 ] || { sed -n '4p' "$0" | cut -c3- >&2; exit 2; }
preset=$1
shift
jobs=$(nproc)
# shellcheck source=scripts/dev/gpu_toolkit.sh
. scripts/dev/gpu_toolkit.sh
use_toolkit_of "$preset"

started=$SECONDS
mkdir -p "build/$preset"
rm -f "build/$preset/ctest.log"
echo "== $preset: build"
if ! { cmake --preset "$preset" && cmake --build --preset "$preset" -j "$jobs"; } \
  >"build/$preset/build.log" 2>&1; then
  grep -E -A 12 'error|FAILED|Error' "build/$preset/build.log" | head -n 80 >&2
  echo "$preset: the build failed; the whole output is in build/$preset/build.log" >&2
  exit 1
fi
echo "== $preset: built in $((SECONDS - started)) s; tests"
status=0
ctest --preset "$preset" -j "$jobs" --no-tests=error "$@" 2>&1 |
  tee "build/$preset/ctest.log" || status=$?
exit $status
