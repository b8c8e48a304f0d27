#!/usr/bin/env bash
# Builds what the tests need and runs them: the CPU build, then the emulated GPU platform, which runs
# the kernels at wave widths 32 and 64.
#
# usage: scripts/test.sh [--quick] [--no-setup]
#   --quick     the emulated build only: it holds the CPU backend too
#   --no-setup  do not look for missing packages
#
# Ends with CTest's closing lines of each build and 'N passed, N failed'.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
presets=(cpu emulated)
setup=1
for argument in "$@"; do
  case $argument in
    --quick) presets=(emulated) ;;
    --no-setup) setup=0 ;;
    *) sed -n '5,7p' "$0" | cut -c3- >&2; exit 2 ;;
  esac
done
[ $setup = 0 ] || scripts/setup.sh --dev

status=0
for preset in "${presets[@]}"; do
  scripts/dev/test_preset.sh "$preset" || status=1
done
scripts/dev/test_summary.sh "${presets[@]}"
exit $status
