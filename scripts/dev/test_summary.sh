#!/usr/bin/env bash
# Prints CTest's closing lines of the presets named and the sum 'N passed, N failed'.
#
# usage: scripts/dev/test_summary.sh PRESET ...
#
# A preset whose tests did not run counts as one failure; a skipped test is neither passed nor failed.
set -euo pipefail

cd "$(dirname "$0")/../.."
n_passed=0
n_failed=0
n_skipped=0
for preset in "$@"; do
  log=build/$preset/ctest.log
  closing=$(grep -s -E '^[0-9]+% tests passed, ' "$log" || true)
  if [ -z "$closing" ]; then
    echo "== $preset: no tests ran"
    n_failed=$((n_failed + 1))
    continue
  fi
  echo "== $preset"
  sed -n '/^[0-9]*% tests passed, /,$p' "$log"
  failed=$(sed -E 's/.*, ([0-9]+) tests? failed out of [0-9]+.*/\1/' <<<"$closing")
  total=$(sed -E 's/.* failed out of ([0-9]+).*/\1/' <<<"$closing")
  skipped=$(grep -c '\*\*\*Skipped' "$log" || true)
  n_failed=$((n_failed + failed))
  n_skipped=$((n_skipped + skipped))
  n_passed=$((n_passed + total - failed - skipped))
done
[ $n_skipped = 0 ] || echo "$n_skipped skipped"
echo "$n_passed passed, $n_failed failed"
