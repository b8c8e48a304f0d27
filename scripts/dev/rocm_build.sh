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
# --check, for CI: configures as --sample does, compiles a few files of each kind and looks up in AMD's runtime all
# that they call; nothing is linked or opened. With either option a system that is not there yet is made for at most
# BIOGPU_ROCM_ROOT_S seconds (default 300).
#
# With BIOGPU_RECORD=1 what was built and tested is recorded for docs/platforms.md (scripts/measure/platforms.py); with
# --sample the module alone, not the host code, which is then another than that of the preset.
#
# Exit status: 0 when it holds or was skipped, 1 when not.
set -uo pipefail

cd "$(dirname "$0")/../.." || exit 1
in_root=scripts/dev/rocm_root.sh
options=() targets=() make_root=("$in_root") limit=() build=build/rocm
case ${1:-} in
  --sample | --check)
    build=build/rocm-sample
    options=(-DCMAKE_HIP_ARCHITECTURES=gfx942 -DBIOGPU_DEVELOPER_MODE=OFF -DCMAKE_UNITY_BUILD=ON
      "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG -DHWY_COMPILE_ONLY_STATIC")
    make_root=(timeout "${BIOGPU_ROCM_ROOT_S:-300}" "$in_root")
    if [ "$1" = --sample ]; then
      seconds=${2:-180}
      limit=(timeout "$seconds")
      targets=(biogpu biogpu_rocm)
    else
      # What calls the runtime, a small kernel file of each part and one with hipCUB, their host side, the module's entry.
      targets=(gpu/rt/{check,device,graph,stream}.hip gpu/rt/{blas_library,monitor,tensor_map}.cpp gpu/prim/device_sort.hip
        gpu/align/traceback.hip gpu/bwt/fm_search.hip gpu/kmer/lookup/lookup.hip gpu/qc/duplicate_keys.hip
        gpu/ops/normalisation/layer_norm.hip gpu/kmer/lookup/lookup_table.cpp gpu/bwt/fm_searcher.cpp
        lib/gpu_backend/entry.cpp)
      targets=("${targets[@]/#/$PWD/}")
      targets=("${targets[@]/%/^}")  # ninja's name for what is made of a file
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
  { grep -E -A 12 'FAILED|error:|Error' "$log" || tail -n 40 "$log"; } | head -n 60
  echo "ROCm build: $1 FAILED"
  exit 1
}

"${make_root[@]}"
case $? in
  0) ;;
  3) echo "ROCm build: SKIPPED, no system with ROCm can be made here" && exit 0 ;;
  124) echo "ROCm build: SKIPPED, no system with ROCm, and none was made in ${BIOGPU_ROCM_ROOT_S:-300} s" && exit 0 ;;
  *) echo "ROCm build: the system FAILED" && exit 1 ;;
esac

# shellcheck disable=SC2016  # expanded by the inner shell
"$in_root" bash -c '. scripts/dev/gpu_toolkit.sh && [ "$(gpu_preset)" = rocm ]' >"$log" 2>&1 ||
  fail "quick start's choice of rocm"
begin=$SECONDS
"$in_root" cmake --preset rocm -B "$build" "${options[@]}" >"$log" 2>&1 || fail configure
"$in_root" ${limit[@]+"${limit[@]}"} cmake --build "$build" -j "${BIOGPU_JOBS:-2}" \
  ${targets[@]+--target "${targets[@]}"} >"$log" 2>&1
case $? in
  0) ;;
  124)
    step=$(grep -oE '^\[[0-9]+/[0-9]+\]' "$log" | tail -n 1)
    echo "ROCm build: SKIPPED after $seconds s, the last step was ${step:-none}"
    exit 0
    ;;
  *) fail build ;;
esac
if [ "${1:-}" = --check ]; then
  # shellcheck disable=SC2016  # expanded by the inner shell
  "$in_root" bash -c '
    find "$1/gpu" "$1/lib/gpu_backend" -name "*.o" -exec nm -u {} + | grep -owE "(__)?hip[A-Z]\w*" | sort -u >"$1/called"
    nm -D --defined-only /usr/lib/*/libamdhip64.so | sed "s/.* //; s/@.*//" | sort -u >"$1/offered"
    comm -23 "$1/called" "$1/offered" | sed "s/^/error: not in the runtime: /" | tee "$1/missing"
    [ -s "$1/called" ] && [ ! -s "$1/missing" ]' bash "$build" >"$log" 2>&1 || fail "the runtime's functions"
  echo "ROCm build: ${#targets[@]} files compiled in $((SECONDS - begin)) s; the runtime has the $(wc -l <"$build/called") functions that they call"
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
  rows | python3 scripts/measure/platforms.py "scripts/dev/rocm_build.sh${1:+ $1}" || exit 1
fi
