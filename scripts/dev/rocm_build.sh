#!/usr/bin/env bash
# Builds the preset rocm in a Debian system with ROCm (rocm_root.sh), links its module with AMD's runtime, and
# tests there that the program opens it and says what it lacks (tests/cli/rocm_test.sh). No AMD card is needed.
#
# usage: scripts/dev/rocm_build.sh [--sample [SECONDS] | --check]
#
# Without an option: the preset as it is, with its test programs, in build/rocm. --sample: gfx942 and the
# program alone, host code for one instruction set and not optimised, in build/rocm-sample, for at most SECONDS
# (default 180); what is not there by then is said to be skipped, and the next one goes on from the compiler's
# cache. The test may take BIOGPU_ROCM_TEST_S seconds (default 300).
#
# --check, for CI: configures as --sample does and compiles a few files of each kind. Those of gpu/ among them, which
# refer to nothing of biogpu beyond themselves, and tests/rocm/linked_sample.cpp are linked with AMD's runtime into a library
# in which no symbol is undefined. It is opened, and its calls must say that there is no device. The module's entry is
# compiled and not linked: it refers to all of the module. Takes at most BIOGPU_ROCM_CHECK_S seconds (default 480), or fails.
#
# With either option a system that is not there yet is made for at most BIOGPU_ROCM_ROOT_S seconds (default 300). ROCm is
# that of a rolling release: where it cannot be had, or does not build and start a program of a few lines that has
# nothing of biogpu (tests/rocm/without_biogpu.hip), that is said and the build is skipped.
#
# With BIOGPU_RECORD=1 what was built and tested is recorded for docs/platforms.md (scripts/measure/platforms.py); with
# --sample the module alone, not the host code, which is then another than that of the preset.
#
# Exit status: 0 when it holds or was skipped, 1 when not.
set -uo pipefail

cd "$(dirname "$0")/../.." || exit 1
in_root=scripts/dev/rocm_root.sh
options=() targets=() linked=() make_root=("$in_root") build=build/rocm
mode=${1:-} seconds=
case $mode in
  --sample | --check)
    build=build/rocm-sample
    options=(-DCMAKE_HIP_ARCHITECTURES=gfx942 -DBIOGPU_DEVELOPER_MODE=OFF -DCMAKE_UNITY_BUILD=ON
      "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG -DHWY_COMPILE_ONLY_STATIC")
    make_root=(timeout "${BIOGPU_ROCM_ROOT_S:-300}" "$in_root")
    if [ "$mode" = --sample ]; then
      seconds=${2:-180}
      targets=(biogpu biogpu_rocm)
    else
      # What calls the runtime, a small kernel file of each part and one with hipCUB, and their host side.
      linked=(rt/{check,device,graph,stream}.hip rt/{blas_library,monitor,tensor_map}.cpp prim/device_sort.hip
        align/traceback.hip bwt/fm_search.hip kmer/lookup/lookup.hip qc/duplicate_keys.hip
        ops/normalisation/layer_norm.hip kmer/lookup/lookup_table.cpp bwt/fm_searcher.cpp)
      targets=("${linked[@]/#/$PWD/gpu/}")
      targets=("${targets[@]/%/^}" biogpu_interface_digest)  # FILE^ is ninja's name for what is made of it
      linked=("${linked[@]/%/.o}")
      seconds=${BIOGPU_ROCM_CHECK_S:-480}
    fi
    ;;
  '') ;;
  *)
    sed -n '5p' "$0" | cut -c3- >&2
    exit 2
    ;;
esac
log=$build.log
mkdir -p build

# fail STEP: with the errors in the log, or its end.
fail() {
  { grep -E -A 12 'FAILED|error:|Error|undefined reference' "$log" || tail -n 40 "$log"; } | head -n 60
  echo "ROCm build: $1 FAILED"
  exit 1
}

# skip REASON: ends the build, which then says nothing about biogpu.
skip() {
  echo "ROCm build: SKIPPED, $*"
  exit 0
}

# Where no system can be made, the last line that rocm_root.sh writes says why.
"${make_root[@]}" 2>&1 | tee "$log"
case ${PIPESTATUS[0]} in
  0) ;;
  3) skip "no system with ROCm can be made here: $(tac "$log" | sed '/^rocm_root: /q' | tac | tr '\n' ' ')" ;;
  124) skip "no system with ROCm, and none was made in ${BIOGPU_ROCM_ROOT_S:-300} s: $(tail -n 1 "$log")" ;;
  *) echo "ROCm build: the system FAILED" && exit 1 ;;
esac
# shellcheck disable=SC2016  # expanded by the inner shell
"$in_root" timeout -k 10 120 bash -c '
  hipcc --offload-arch=gfx942 tests/rocm/without_biogpu.hip -o /tmp/without_biogpu && /tmp/without_biogpu' >"$log" 2>&1 ||
  skip "the system's ROCm does not build or start a program without biogpu: $(grep -m 1 'error' "$log" || tail -n 1 "$log")"

begin=$SECONDS
# within_limit COMMAND...: in the system, for what is left of the limit, where there is one.
within_limit() {
  local limit=() left
  if [ -n "$seconds" ]; then
    left=$((seconds - SECONDS + begin))
    limit=(timeout -k 10 $((left > 1 ? left : 1)))
  fi
  "$in_root" ${limit[@]+"${limit[@]}"} "$@"
}

# ended STATUS STEP: ends the build where a step failed or came to the limit. A step that ignores the limit's first
# signal is killed, which alone could also be for want of memory.
ended() {
  [ "$1" != 0 ] || return 0
  if [ -n "$seconds" ] && [ $((SECONDS - begin)) -ge "$seconds" ] && [[ $1 = 124 || $1 = 137 ]]; then
    [ "$mode" != --sample ] || skip "$2 not at its end after $seconds s"
    fail "$2, not at its end $seconds s after the first step began,"
  fi
  fail "$2"
}

# shellcheck disable=SC2016  # expanded by the inner shell
"$in_root" bash -c '. scripts/dev/gpu_toolkit.sh && [ "$(gpu_preset)" = rocm ]' >"$log" 2>&1 ||
  fail "quick start's choice of rocm"
within_limit cmake --preset rocm -B "$build" "${options[@]}" >"$log" 2>&1
ended $? configure
within_limit cmake --build "$build" -j "${BIOGPU_JOBS:-2}" ${targets[@]+--target "${targets[@]}"} >"$log" 2>&1
status=$?
step=$(grep -oE '^\[[0-9]+/[0-9]+\]' "$log" | tail -n 1)
ended $status "build${step:+, step $step}"
if [ "$mode" = --check ]; then
  compiler=$(sed -n 's/^CMAKE_HIP_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
  # By its command alone: ninja would first build all libraries of the module.
  # shellcheck disable=SC2016  # expanded by the inner shell
  within_limit bash -c '
    command=$(python3 -c "
import json, sys
print(next(e[\"command\"] for e in json.load(open(sys.argv[1])) if e[\"file\"].endswith(sys.argv[2])))" "$1" "$2") && [ -n "$command" ] &&
      cd "$(dirname "$1")" && eval "$command"' bash "$PWD/$build/compile_commands.json" /lib/gpu_backend/entry.cpp >"$log" 2>&1
  ended $? "compilation of the module's entry"
  library=$build/linked_sample.so
  within_limit "$compiler" -std=c++20 -O1 -fPIC -shared -Wall -Wextra -Werror -DBIOGPU_GPU_ROCM=1 -D__HIP_PLATFORM_AMD__=1 \
    -I . tests/rocm/linked_sample.cpp "${linked[@]/#/$build/gpu/CMakeFiles/biogpu_gpu.dir/}" \
    -Wl,-z,defs -o "$library" -lamdhip64 >"$log" 2>&1
  ended $? "link of a library"
  within_limit python3 tests/rocm/linked_sample.py "$library" >"$log" 2>&1
  status=$?
  [ $status != 77 ] || skip "$(tail -n 1 "$log")"
  [ $status = 0 ] || cat "$log"
  ended $status "calls of the linked library (exit status $status)"
  echo "ROCm build: $((${#linked[@]} + 1)) files compiled, ${#linked[@]} of them linked and opened in $((SECONDS - begin)) s; $(tail -n 1 "$log")"
  exit 0
fi
echo "ROCm build: built and linked in $((SECONDS - begin)) s"
test_s=${BIOGPU_ROCM_TEST_S:-300}
"$in_root" timeout "$test_s" bash tests/cli/rocm_test.sh "$build/apps/biogpu/biogpu" . rocm >"$log" 2>&1
case $? in
  0) ;;
  77) echo "ROCm build: without a card: SKIPPED, $(tail -n 1 "$log")" && exit 0 ;;
  124) fail "without a card, which did not end in $test_s s," ;;
  *) fail "without a card" ;;
esac
echo "ROCm build: without a card: $(tail -n 1 "$log")"

# rows: the architectures of the module, the system that the program ran on and the compiler of its host code.
rows() {
  local checks
  checks=$(tail -n 1 "$log")
  grep -oE 'offload-arch=gfx[0-9a-f]+' "$build/build.ninja" | sort -u | sed 's/.*=/AMD /' |
    awk -v OFS='\t' -v checks="$checks" '{ print $0, "all", "linked and loaded", checks " without a card" }'
  [ "$build" = build/rocm ] || return 0
  # shellcheck disable=SC2016  # expanded by the inner shell
  "$in_root" bash -c '. /etc/os-release && printf "x86-64 Debian %s\tall\trun\t%s, %s\n" "${VERSION_ID%%.*}" "$1" \
    "$(c++ --version | head -n 1)"
    printf "x86-64 GCC %s\tall\tcompiled\tevery host file of the preset rocm, warnings are errors\n" \
    "$(c++ -dumpversion | cut -d. -f1)"' bash "$checks"
}
if [ "${BIOGPU_RECORD:-0}" = 1 ]; then
  rows | python3 scripts/measure/platforms.py "scripts/dev/rocm_build.sh${mode:+ $mode}" || exit 1
fi
