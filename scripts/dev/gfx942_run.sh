#!/usr/bin/env bash
# Builds the preset rocm for AMD's gfx942 and runs its kernels' machine code on the CPU, instruction by
# instruction: tests of the project on small inputs, and the program with --device gpu against the CPU. No AMD
# card is needed.
#
# usage: scripts/dev/gfx942_run.sh [--record] [FAMILY ...]
#
# A FAMILY is one of tests/gfx942/cases.tsv; default: all. "sample" needs no part of the program and takes
# seconds. --record keeps the result for the tables of docs/design/amd-without-card.md (scripts/dev/tables.py).
#
# The kernels run below a runtime of our own (third_party/hip_on_gfx942), which asks the emulator of the
# public project tinygrad what each instruction does. It is no package: TINYGRAD names a checkout of it, or
# git fetches the commit below into build/gfx942. Where neither is there, nothing is checked, and that is said.
# The compiler and the headers are those of rocm_prefix.sh.
#
# One line a test (scripts/measure/gfx942.py), with SKIPPED for each that the emulator cannot run or does not end in
# time. Exit status: 0 when none differs or nothing could be checked, 1 otherwise, and where no test of the sample is
# equal.
set -uo pipefail

commit=a9069c177a9da9cca18593edf55acd2e6073cca6
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 1
work=build/gfx942  # as deep as other builds, so that the compiler's cache knows their objects
skip() { echo "gfx942 machine code: SKIPPED, $*"; exit 0; }
fail() { echo "gfx942 machine code: FAILED, $*"; exit 1; }

options=(--seconds "${BIOGPU_GFX942_SECONDS:-300}")
if [ "${1:-}" = --record ]; then
  options+=(--record scripts/bench/results/gfx942/cases.json)
  shift
fi
if ! command -v clang++-19 >/dev/null || [ ! -f "${BIOGPU_ROCM_PREFIX:-.rocm}/.ready" ]; then
  skip "no compiler and headers; scripts/dev/rocm_prefix.sh fetches them"
fi
mkdir -p "$work"
export TINYGRAD=${TINYGRAD:-$root/$work/tinygrad}
if [ ! -d "$TINYGRAD/test/mockgpu/amd" ]; then
  { git init -q "$TINYGRAD" &&
    timeout 20 git -C "$TINYGRAD" fetch -q --depth 1 https://github.com/tinygrad/tinygrad "$commit" &&
    git -C "$TINYGRAD" checkout -q FETCH_HEAD; } 2>/dev/null ||
    skip "no checkout of tinygrad; TINYGRAD=FOLDER names one, at best of commit ${commit:0:12}"
fi

# The programs that the chosen families need.
wanted=" $* "
mapfile -t programs < <(awk -F '\t' -v wanted="$wanted" '
  /^#/ || NF < 2 || (wanted == "  " ? $1 == "sample" : !index(wanted, " " $1 " ")) { next }
  $2 ~ /\.sh$/ { $2 = "apps/biogpu/biogpu" }
  !seen[$2]++ { print $2 }' tests/gfx942/cases.tsv)
[ ${#programs[@]} -gt 0 ] || fail "no case of$wanted"
targets=("${programs[@]##*/}")
[ "${targets[*]}" = gfx942_language ] || targets+=(biogpu_rocm)

begin=$SECONDS
log=$work/build.log
# Host code as in the preset dev, whose objects the compiler's cache then shares.
cmake --preset rocm -B "$work" --toolchain third_party/hip_on_gfx942/toolchain.cmake \
  -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" -DBIOGPU_FAST_LINKER=ON >"$log" 2>&1 ||
  { tail -n 20 "$log"; fail "it does not configure"; }
cmake --build "$work" -j "${BIOGPU_JOBS:-2}" --target "${targets[@]}" >"$log" 2>&1 ||
  { grep -A 20 -E '^FAILED|error:' "$log" | head -n 60; fail "it does not build"; }
# Programs look for the module next to themselves.
for program in "${programs[@]}"; do
  [ "$program" = apps/biogpu/biogpu ] || ln -sf "$root/$work/apps/biogpu/libbiogpu_rocm.so" "$work/${program%/*}/"
done
echo "built in $((SECONDS - begin)) s"

python3 scripts/measure/gfx942.py "${options[@]}" "$work" "$@"
status=$?
if [ ${#options[@]} -ge 3 ]; then
  python3 scripts/dev/tables.py docs/design/amd-without-card.md docs/platforms.md || fail "the tables cannot be written"
fi
[ $status = 0 ] || fail "a test differs, or none of the sample is equal: see above"
echo "gfx942 machine code: none differs"
