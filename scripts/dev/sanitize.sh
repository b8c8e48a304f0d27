#!/usr/bin/env bash
# Runs the tests under AddressSanitizer and UBSan, kernels emulated, within a time budget: those of
# units, of kernels (the slow ones too), of commands and of packages.
#
# usage: scripts/dev/sanitize.sh [SECONDS] [TEST ...]     default: 600 s, all tests
#
# Tests of what changed go first, the others begin further on with each commit, so that every one has its
# turn (scripts/dev/affected.py). One that passed is not run again until its program or script changes:
# build/asan/clean remembers. Those for which no time is left are counted, with the word SKIPPED.
# 'scripts/dev/test_preset.sh asan' runs everything. Exit status 1 when a test fails.
set -uo pipefail

cd "$(dirname "$0")/../.." || exit 1
budget=${1:-600}
[ $# -eq 0 ] || shift
build=build/asan
clean=$build/clean
most_at_once=$(nproc)
# The emulator's threads change stacks, which this check does not follow. Sanitizers up to GCC 13 misread blocks of
# thread-local memory of opened modules (google/sanitizers 1322).
export ASAN_OPTIONS=detect_stack_use_after_return=0:intercept_tls_get_addr=0
# Leaks of libraries, each with its reason.
export LSAN_OPTIONS=print_suppressions=0:suppressions=$PWD/tests/support/lsan_suppressions.txt
if ! cmake --preset asan >build/asan.log 2>&1; then
  tail -n 20 build/asan.log >&2
  exit 1
fi
mkdir -p $clean
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# list.txt: 'CLASS TEST' in the order to run them, of the tests that this build has.
ctest --preset asan -N | sed -nE 's/^ *Test +#[0-9]+: //p' | sort >"$work/known"
if [ $# -gt 0 ]; then
  printf 'own %s\n' "$@" >"$work/list"
  if unknown=$(cut -d' ' -f2 "$work/list" | grep -vxFf "$work/known"); then
    echo "sanitize: no test of the name ${unknown//$'\n'/ }" >&2
    exit 1
  fi
else
  # A build that is there already knows which headers each program was built from.
  built=build/emulated
  [ -f $built/build.ninja ] || built=$build
  scripts/dev/affected.py tests $built | awk 'NR == FNR { known[$1]; next } $2 in known' "$work/known" - >"$work/list"
fi
[ -s "$work/list" ] || { echo "sanitize: CTest lists no tests" >&2; exit 1; }

time_left() { echo $((budget - SECONDS)); }
# within_time COMMAND...: at least a second, as 0 is no limit for timeout.
within_time() {
  local left
  left=$(time_left)
  timeout $((left > 1 ? left : 1)) "$@"
}

# target_of TEST: what has to be built for it.
target_of() {
  case $1 in
    cli_* | pipelines_*) echo biogpu ;;
    # The same program as without a GPU, with other settings.
    ops_gpu_test_wave* | align_parasail_bundled_gpu_test_wave*) echo "${1%_gpu_test_wave*}_test" ;;
    *_wave32 | *_wave64) echo "${1%_wave*}" ;;
    *_clusters*) echo "${1%_clusters*}" ;;
    *) echo "$1" ;;
  esac
}

# is_clean TEST PROGRAM: it passed with the program, and, of commands, with the scripts as they are.
is_clean() {
  local mark=$clean/$1
  [ "$mark" -nt "$2" ] || return 1
  case $1 in
    cli_* | pipelines_*) [ -z "$(find tests scripts data -newer "$mark" -type f -print -quit)" ] ;;
  esac
}

# run_test TEST: leaves its outcome in TEST.state, and what it said in TEST.log.
run_test() {
  within_time ctest --preset asan --no-tests=error -R "^$1\$" >"$work/$1.log" 2>&1
  local status=$?
  if [ $status -eq 0 ]; then
    touch "$clean/$1"
    echo passed >"$work/$1.state"
  elif [ $status -eq 124 ] || grep -q '\*\*\*Timeout' "$work/$1.log"; then
    # Too slow under a sanitizer is no finding: without one the same limit decides.
    echo skipped >"$work/$1.state"
  else
    echo failed >"$work/$1.state"
  fi
}

while read -r _ test; do
  if [ "$(time_left)" -le 0 ]; then echo skipped >"$work/$test.state"; continue; fi
  target=$(target_of "$test")
  if [ ! -e "$work/$target.built" ]; then
    within_time cmake --build --preset asan --target "$target" >"$work/$target.build" 2>&1
    echo $? >"$work/$target.built"
  fi
  case $(cat "$work/$target.built") in
    0) ;;
    124) echo skipped >"$work/$test.state"; continue ;;
    *) cp "$work/$target.build" "$work/$test.log"; echo failed >"$work/$test.state"; continue ;;
  esac
  program=$(find $build/tests $build/apps -name "$target" -type f -perm -u+x | head -n 1)
  if is_clean "$test" "$program"; then echo known >"$work/$test.state"; continue; fi
  while [ "$(jobs -rp | wc -l)" -ge "$most_at_once" ]; do wait -n; done
  [ "$(time_left)" -gt 0 ] || { echo skipped >"$work/$test.state"; continue; }
  run_test "$test" &
done <"$work/list"
wait

# names STATE [CLASS]: the tests of that state.
names() {
  while read -r class test; do
    if [ "$(cat "$work/$test.state")" = "$1" ] && [ "${2:-$class}" = "$class" ]; then echo "$test"; fi
  done <"$work/list"
}
count() { names "$@" | wc -l; }
for test in $(names failed); do tail -n 60 "$work/$test.log" >&2; done
echo "sanitize: $(count passed) tests passed, $(count known) known to be clean, $(count failed) failed, in $SECONDS s"
if [ "$(count skipped)" -gt 0 ]; then
  n_touched=$(($(count skipped own) + $(count skipped near)))
  echo "sanitize: SKIPPED, no time for $(count skipped) tests, of which $n_touched are of what changed"
fi
[ "$(count failed)" -eq 0 ] || { echo "sanitize: failed: $(names failed | paste -sd " ")" >&2; exit 1; }
