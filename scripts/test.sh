#!/usr/bin/env bash
# Builds what the tests need and runs them: the CPU build, then the emulated GPU platform, which runs
# the kernels at wave widths 32 and 64, then, where a GPU and its toolkit are, the same tests on it.
# Tests with the label host expect the same of every build and run with the first one only.
#
# usage: scripts/test.sh [--quick] [--no-gpu] [--no-setup]
#   --quick     the emulated build only: it holds the CPU backend too
#   --no-gpu    leave out the tests on a real GPU
#   --no-setup  do not look for missing packages
#
# Ends with CTest's closing lines of each build and 'N passed, N failed'.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
# shellcheck source=scripts/dev/gpu_toolkit.sh
. scripts/dev/gpu_toolkit.sh
presets=(cpu emulated)
gpu=1
setup=1
for argument in "$@"; do
  case $argument in
    --quick) presets=(emulated) gpu=0 ;;
    --no-gpu) gpu=0 ;;
    --no-setup) setup=0 ;;
    *) sed -n '6,9p' "$0" | cut -c3- >&2; exit 2 ;;
  esac
done
[ $setup = 0 ] || scripts/setup.sh --dev

status=0
left_out=()
for preset in "${presets[@]}"; do
  scripts/dev/test_preset.sh "$preset" ${left_out[@]+"${left_out[@]}"} || status=1
  left_out=(-LE '^host$')
done
if [ $gpu = 1 ] && preset=$(gpu_preset); then
  if has_gpu_for "$preset"; then
    presets+=("$preset")
    # A test that finds no device fails here instead of being skipped.
    BIOGPU_REQUIRE_GPU=1 scripts/dev/test_preset.sh "$preset" -L gpu || status=1
  else
    echo "== $preset: no GPU on this machine; its tests ran under emulation only"
  fi
fi
scripts/dev/test_summary.sh "${presets[@]}"
exit $status
