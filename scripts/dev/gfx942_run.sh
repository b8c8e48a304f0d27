#!/usr/bin/env bash
# Compiles kernels for AMD's gfx942 and runs their machine code on the CPU, instruction by instruction, on
# small inputs; compares what they give with plain code. No AMD card is needed.
#
# usage: scripts/dev/gfx942_run.sh
#
# The kernels run below a runtime of our own (third_party/hip_on_gfx942), which asks the emulator of the
# public project tinygrad what each instruction does. It is no package: TINYGRAD names a checkout of it, or
# git fetches the commit below into build/gfx942. Where neither is there, nothing is checked, and that is said.
# The compiler and the headers are those of rocm_prefix.sh.
#
# One line a test: equal or DIFFERS, its name, the greatest difference. Exit status: 0 when all are equal
# or nothing could be checked, 1 otherwise.
set -uo pipefail

commit=a9069c177a9da9cca18593edf55acd2e6073cca6
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 1
prefix=${BIOGPU_ROCM_PREFIX:-$root/.rocm}
work=$root/build/gfx942
skip() { echo "gfx942 machine code: SKIPPED, $*"; exit 0; }
fail() { echo "gfx942 machine code: FAILED, $*"; exit 1; }

if ! command -v clang++-19 >/dev/null || [ ! -f "$prefix/.ready" ]; then
  skip "no compiler and headers; scripts/dev/rocm_prefix.sh fetches them"
fi
mkdir -p "$work"
TINYGRAD=${TINYGRAD:-$work/tinygrad}
if [ ! -d "$TINYGRAD/test/mockgpu/amd" ]; then
  { git init -q "$TINYGRAD" &&
    timeout 20 git -C "$TINYGRAD" fetch -q --depth 1 https://github.com/tinygrad/tinygrad "$commit" &&
    git -C "$TINYGRAD" checkout -q FETCH_HEAD; } 2>/dev/null ||
    skip "no checkout of tinygrad; TINYGRAD=FOLDER names one, at best of commit ${commit:0:12}"
fi
export TINYGRAD

cached=()
if command -v ccache >/dev/null; then
  cached=(ccache)
  export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
fi
common=(-std=c++20 -D__HIP_PLATFORM_AMD__ -I . -isystem "$prefix/include")
begin=$SECONDS
parts=()
for file in third_party/hip_on_gfx942/*.cpp; do
  parts+=("$work/$(basename "$file" .cpp).o")
  "${cached[@]}" g++ -O1 -fPIC "${common[@]}" -c "$file" -o "${parts[-1]}" || fail "$file does not compile"
done
g++ -shared -Wl,-soname,libamdhip64.so.6 "${parts[@]}" -o "$work/libamdhip64.so.6" ||
  fail "the runtime does not link"

export BIOGPU_GFX942_TRANSLATOR=$root/third_party/hip_on_gfx942/translate.py
export BIOGPU_GFX942_REPORT=$work/launches.tsv
rm -f "$work/launches.tsv"
status=0
for file in tests/gfx942/*.hip; do
  test=$(basename "$file" .hip)
  "${cached[@]}" clang++-19 -x hip -O3 --offload-arch=gfx942 --rocm-path="$prefix" \
    --rocm-device-lib-path="$prefix/amdgcn/bitcode" -B"$prefix/llvm/bin" "${common[@]}" \
    -DBIOGPU_GPU_ROCM=1 -c "$file" -o "$work/$test.o" || fail "$file does not compile"
  g++ "$work/$test.o" "$work/libamdhip64.so.6" -o "$work/$test" || fail "$test does not link"
  built=$SECONDS
  LD_LIBRARY_PATH=$work "$work/$test" >"$work/$test.tsv" 2>"$work/$test.txt" || status=1
  cat "$work/$test.tsv" "$work/$test.txt"
  echo "$test: built in $((built - begin)) s, run in $((SECONDS - built)) s"
done
awk -F '\t' '{ ++n; instructions += $5; kernels[$2] }
  END { printf "%d launches of %d kernels, %d instructions of waves\n", n, length(kernels), instructions }' \
  "$work/launches.tsv"
[ $status = 0 ] || fail "above is what differs"
echo "gfx942 machine code: all equal"
