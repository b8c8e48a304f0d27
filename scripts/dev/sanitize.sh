#!/usr/bin/env bash
# Runs the test programs under AddressSanitizer and UBSan, kernels emulated, within a time budget.
#
# usage: scripts/dev/sanitize.sh [SECONDS] [PROGRAM ...]     default: 600 s, all but the slow
#        ones (kernels of models) and the tests of commands
#
# A program that passed is not run again until it changes: build/asan/clean remembers. The others are
# built and run one by one, beginning further on with each commit, so that every one has its turn;
# those for which no time is left are named, with the word SKIPPED. 'scripts/dev/test_preset.sh asan'
# runs everything at once. Exit status 1 when a program fails.
set -uo pipefail

cd "$(dirname "$0")/../.." || exit 1
budget=${1:-600}
[ $# -eq 0 ] || shift
build=build/asan
clean=$build/clean
# The emulator's threads change stacks, which this check does not follow.
export ASAN_OPTIONS=detect_stack_use_after_return=0
options=()
if command -v ccache >/dev/null; then
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
  options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
if ! cmake --preset asan "${options[@]}" >build/asan.log 2>&1; then
  tail -n 20 build/asan.log >&2
  exit 1
fi
mkdir -p $clean

programs=("$@")
named=$#
if [ ${#programs[@]} -eq 0 ]; then
  # Of a program that runs once for each wave width, one name.
  mapfile -t programs < <(ctest --preset asan -N -LE slow -L 'unit|gpu' |
    sed -nE 's/^ *Test +#[0-9]+: //p' | sed -E 's/_wave(32|64)$//' | sort -u)
  [ ${#programs[@]} -gt 0 ] || { echo "sanitize: CTest lists no programs" >&2; exit 1; }
  first=$(($(git rev-list --count HEAD) * 7 % ${#programs[@]}))
  programs=("${programs[@]:first}" "${programs[@]:0:first}")
fi

passed=0
known=0
failed=()
skipped=()
time_left() { echo $((budget - SECONDS)); }
for program in "${programs[@]}"; do
  [ "$(time_left)" -gt 0 ] || { skipped+=("$program"); continue; }
  timeout "$(time_left)" cmake --build --preset asan --target "$program" >build/asan.log 2>&1
  status=$?
  [ $status -ne 124 ] || { skipped+=("$program"); continue; }
  if [ $status -ne 0 ]; then
    # What is no target is a check that the tests alone know.
    [ "$named" -eq 0 ] && grep -q "unknown target" build/asan.log && continue
    tail -n 40 build/asan.log >&2
    failed+=("$program")
    continue
  fi
  binary=$(find $build/tests -name "$program" -type f | head -n 1)
  if [ $clean/"$program" -nt "$binary" ]; then
    known=$((known + 1))
    continue
  fi
  [ "$(time_left)" -gt 0 ] || { skipped+=("$program"); continue; }
  timeout "$(time_left)" ctest --preset asan --no-tests=error -R "^${program}(_wave(32|64))?\$" >build/asan.log 2>&1
  status=$?
  if [ $status -eq 0 ]; then
    touch $clean/"$program"
    passed=$((passed + 1))
  elif [ $status -eq 124 ]; then
    skipped+=("$program")
  else
    tail -n 60 build/asan.log >&2
    failed+=("$program")
  fi
done
echo "sanitize: $passed programs passed, $known known to be clean, ${#failed[@]} failed, in $SECONDS s"
[ ${#skipped[@]} -eq 0 ] || echo "sanitize: SKIPPED, no time for ${#skipped[@]} programs: ${skipped[*]}"
[ ${#failed[@]} -eq 0 ] || { echo "sanitize: failed: ${failed[*]}" >&2; exit 1; }
