#!/usr/bin/env bash
# Compiles the CPU program for Arm (aarch64) and tests it under qemu-user, part by part: unit tests, then commands.
# Outputs of align, kmer, bwt and qc are compared byte by byte with those of a build for this machine. Models differ in
# their last digits between processors, as sums are taken in the order of the vector's width: their unit tests and the
# scripts of tests/cli hold them to their bounds.
#
# usage: scripts/dev/arm_test.sh [--units] [--only PART] [BIOGPU]
#
# PART is align, kmer, bwt, qc, infer, or shared, which is what all of them use; without --only all of them, in this
# order. --units: unit tests alone, without the program. BIOGPU is the build to compare with, default that of the preset
# cpu in build/cpu. BIOGPU_ARM_TESTS is an expression (grep -E) for names of unit tests; others are left out. With
# BIOGPU_ARM_PART_S the comparisons of a part, and its scripts, are those that begin within so many seconds; those left
# out are counted.
# With BIOGPU_RECORD=1 each part that passed is recorded for docs/platforms.md, except 'shared', which has no column,
# and parts of which BIOGPU_ARM_TESTS left tests out.
# arm_root.sh says what is needed. Exit status: 0 passed, 1 not, 3 cannot be done here.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

parts=(align kmer bwt qc infer shared)
units=
if [ "${1:-}" = --units ]; then
  units=--units
  shift
fi
if [ "${1:-}" = --only ]; then
  [[ -n ${2:-} && " ${parts[*]} " == *" $2 "* ]] || { sed -n '7p' "$0" | cut -c3- >&2; exit 1; }
  parts=("$2")
  shift 2
fi
biogpu=${1:-build/cpu/apps/biogpu/biogpu}
root=${BIOGPU_ARM_ROOT:-/var/cache/biogpu/arm}
limit=${BIOGPU_ARM_PART_S:-inf}
jobs=${BIOGPU_JOBS:-$(nproc)}
build=build/arm
in_root=scripts/dev/arm_root.sh
mkdir -p "$build"

# folders_of PART: where its unit tests are.
folders_of() {
  case $1 in
    infer) printf '%s\n' tests/models tests/ops tests/unit/{infer,structure,tasks,tensor} ;;
    shared) printf '%s\n' tests/c_api tests/unit/{bio,core,io,pipeline,report} ;;
    *) echo "tests/unit/$1" ;;
  esac
}

# scripts_of PART: those that run its commands on the CPU and set no limit that an emulator itself would reach.
scripts_of() {
  case $1 in
    align) ls tests/cli/align_*test.sh tests/cli/parasail_test.sh ;;
    infer) find tests/cli -name 'infer_*test.sh' ! -name infer_device_test.sh | sort ;;
  esac
}

built() {
  "$in_root" cmake --build "$build" -j "$jobs" --target "$@" >"$build/build.log" 2>&1 && return
  grep -E -A 12 'error|FAILED|Error' "$build/build.log" | head -n 60
  echo "arm_test: the build FAILED, see $build/build.log"
  return 1
}

# The three below add what passed to 'passed'.
unit_tests() {
  local folders all chosen text
  mapfile -t folders < <(folders_of "$1" | xargs -I{} find {} -name CMakeLists.txt -printf '%h\n' | sort)
  # shellcheck disable=SC2016  # expanded by the inner shell
  mapfile -t all < <("$in_root" bash -c 'for folder; do ctest --test-dir "$folder" -N -L unit; done' bash "${folders[@]/#/$build/}" |
    sed -nE 's/^ *Test +#[0-9]+: ([^ ]+)$/\1/p')
  mapfile -t chosen < <(printf '%s\n' "${all[@]}" | grep -E "${BIOGPU_ARM_TESTS:-.}")
  if [ ${#chosen[@]} = 0 ]; then
    echo "no unit test of $1 is called '${BIOGPU_ARM_TESTS:-}'"
    return 1
  fi
  built "${chosen[@]}" || return 1  # a test is called as its program
  "$in_root" ctest --test-dir "$build" -R "^($(IFS='|' && echo "${chosen[*]}"))\$" -j "$jobs" --no-tests=error \
    --output-on-failure | tee "$build/ctest.log" || return 1
  text="${#all[@]} programs of unit tests"
  [ ${#chosen[@]} = ${#all[@]} ] || text="${#chosen[@]} of $text: ${chosen[*]}"
  passed+=("$text")
}

comparisons() {
  scripts/dev/same_outputs.py --only "$1" --seconds "$limit" --emulator "$emulator" "$biogpu" "$build/apps/biogpu/biogpu" |
    tee "$build/same_outputs.log" || return 1
  passed+=("$(sed -nE '$ { s/^([0-9]+) commands, [^;]*;[^;]*/\1 commands with the bytes of x86-64/; s/; / and /; p }' \
    "$build/same_outputs.log")")
}

command_scripts() {
  local script begun=$SECONDS n_checks=0 n_scripts=0 n_late=0 late
  for script in $(scripts_of "$1"); do
    if [ "$limit" != inf ] && [ $((SECONDS - begun)) -gt "$limit" ]; then
      n_late=$((n_late + 1))
      continue
    fi
    if ! bash "$script" "$build/biogpu" . none >"$build/script.log" 2>&1; then
      tail -n 40 "$build/script.log"
      echo "arm_test: $script FAILED"
      return 1
    fi
    echo "$script: $(tail -n 1 "$build/script.log")"
    n_checks=$((n_checks + $(sed -nE '$ s/^([0-9]+) of \1 checks passed$/\1/p' "$build/script.log")))
    n_scripts=$((n_scripts + 1))
  done
  [ "$n_late" = 0 ] || late=" and $n_late scripts left out"
  [ "$((n_scripts + n_late))" = 0 ] || passed+=("$n_checks checks of $n_scripts scripts${late:-}")
}

"$in_root" || exit
"$in_root" cmake --preset arm >"$build/configure.log" 2>&1 || { tail -n 30 "$build/configure.log"; exit 1; }
if [ -z "$units" ]; then
  biogpu=$(realpath -e "$biogpu") || exit 1
  built biogpu || exit 1
  # qemu-user finds the interpreter and the libraries of aarch64 in the system that the build was made in.
  emulator="$root/usr/bin/qemu-aarch64-static -L $root"
  # The name that it was called by goes on, as a link called parasail_aligner takes that program's options.
  # shellcheck disable=SC2016  # expanded by the script that it writes
  printf '#!/bin/sh\nexec %s -0 "$0" "%s" "$@"\n' "$emulator" "$PWD/$build/apps/biogpu/biogpu" >"$build/biogpu"
  chmod +x "$build/biogpu"
  "$build/biogpu" version | grep -q '^backends: cpu (NEON' ||
    { echo "arm_test: the program for aarch64 does not start, or not with NEON"; exit 1; }
fi

failed=0
for part in "${parts[@]}"; do
  echo "== $part"
  passed=()
  status=0
  unit_tests "$part" || status=1
  if [ -z "$units" ]; then
    case $part in align | kmer | bwt | qc) comparisons "$part" || status=1 ;; esac
    command_scripts "$part" || status=1
  fi
  [ $status = 0 ] || { failed=1 && continue; }
  detail=$(printf '; %s' "${passed[@]}")
  echo "$part: passed: ${detail:2}"
  if [ "${BIOGPU_RECORD:-0}" = 1 ] && [ "$part" != shared ] && [ -z "${BIOGPU_ARM_TESTS:-}" ]; then
    printf 'arm64\t%s\tmachine code emulated\t%s\n' "$part" "${detail:2}" |
      python3 scripts/measure/platforms.py "scripts/dev/arm_test.sh ${units:+$units }--only $part" || failed=1
  fi
done
exit $failed
