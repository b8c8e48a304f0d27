#!/usr/bin/env bash
# Builds the fuzz targets with clang and the sanitizers and runs each for a while.
#
# usage: scripts/dev/fuzz.sh [--random] [SECONDS] [TARGET ...]     default: 20 s each, all targets
#   --random  other inputs in every run; without it a run from a fresh build folder repeats the last
#             one's, so that a change fails for what it changed. For long runs that look for faults.
#
# Seeds are in tests/fuzz/corpus and come from tests/fuzz/make_corpus.py; what a run finds new stays in
# build/fuzz/corpus and makes the next one start further on. An input that breaks a target is kept in
# build/fuzz/findings. As many targets run at a time as there are cores.
set -euo pipefail

cd "$(dirname "$0")/../.."
seed=1
if [ "${1:-}" = --random ]; then
  seed=0 # libFuzzer draws one
  shift
fi
seconds=${1:-20}
[ $# -eq 0 ] || shift
build=build/fuzz

for version in 19 18 17 16 15 14; do
  clang=$(command -v "clang++-$version") || continue
  # clang alone does not bring the runtime library that libFuzzer is.
  if echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
    "$clang" -x c++ - -fsanitize=fuzzer,address -o /dev/null 2>/dev/null; then break; fi
  clang=
done
[ -n "${clang:-}" ] || { echo "fuzz: no clang with libFuzzer; run scripts/setup.sh --dev" >&2; exit 1; }

options=(-DCMAKE_CXX_COMPILER="$clang" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBIOGPU_GPU=none
  -DCMAKE_UNITY_BUILD=ON -DBIOGPU_FUZZ=ON "-DBIOGPU_SANITIZE=fuzzer-no-link,address,undefined")
mkdir -p $build/findings
names=(fuzz_targets)
[ $# -eq 0 ] || names=("${@/%/_fuzz}")
if ! { cmake -S . -B $build -G Ninja "${options[@]}" && cmake --build $build --target "${names[@]}"; } \
  >$build/build.log 2>&1; then
  tail -n 40 $build/build.log >&2
  exit 1
fi
python3 tests/fuzz/make_corpus.py $build/corpus

# The list of CMake; a target of an older configuration has no line there.
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets <$build/fuzz_targets.txt

# fuzz TARGET: one run, its log in build/fuzz/TARGET.log.
fuzz() {
  local target=$1 seeds=tests/fuzz/corpus/$1
  local folders=("$build/corpus/$target")
  mkdir -p "${folders[0]}"
  [ ! -d "$seeds" ] || folders+=("$seeds")
  # htslib asks for what a damaged header claims: it gets nothing, and the fuzzer does not end.
  # Sanitizers up to LLVM 16 misread blocks of thread-local memory of opened modules (google/sanitizers 1322).
  if ASAN_OPTIONS=allocator_may_return_null=1:intercept_tls_get_addr=0 "$build/fuzzers/${target}_fuzz" -max_total_time="$seconds" -seed=$seed -timeout=20 \
    -max_len=20000 -rss_limit_mb=4096 -malloc_limit_mb=1000000 -artifact_prefix="$build/findings/$target-" \
    "${folders[@]}" >"$build/$target.log" 2>&1; then
    echo "fuzz: $target: $(tail -n 1 "$build/$target.log")"
  else
    tail -n 40 "$build/$target.log" >&2
    echo "fuzz: $target: FAILED; the input is in $build/findings" >&2
    return 1
  fi
}

failed=0
for target in "${targets[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || failed=1; done
  fuzz "$target" &
done
while [ -n "$(jobs -rp)" ]; do wait -n || failed=1; done
# A target that ended between two looks was not waited for: its log tells.
for target in "${targets[@]}"; do
  grep -q '^Done ' "$build/$target.log" || failed=1
done
exit $failed
