#!/usr/bin/env bash
# Compiles every GPU kernel file for the architectures that biogpu supports; no GPU is needed.
#
# usage: scripts/dev/compile_check.sh [sm_90|gfx90a|gfx942|all] [--spill-free | FILE.hip ...]
#
# Device code only. Without FILEs: every gpu/**/*.hip that git knows; with --spill-free those of them that must
# not spill on NVIDIA, see below. Compilers for AMD run through ccache where it is installed. Prints one line per
# target and, for AMD, each kernel that spills vector registers. Exit status: 0 when every target that could be checked
# compiles, 1 when a kernel fails, 2 for wrong usage. A target whose compiler is absent is reported
# as skipped; BIOGPU_REQUIRE_TARGETS="sm_90 gfx90a" turns the skip of the named ones into a failure.
#
# Files matching BIOGPU_SPILL_FREE (an extended regular expression, default: the alignment kernels)
# must not spill on AMD, those matching BIOGPU_SPILL_FREE_NVIDIA (default: the kernels whose speed
# rests on it) not on NVIDIA: which do depends on the version of the compiler, too.
#
# BIOGPU_RESOURCES=FOLDER keeps what the compiler says of each kernel for AMD in FOLDER/TARGET.log, for
# scripts/measure/kernel_resources.py.
#
# With BIOGPU_RECORD=1 a check of all files is recorded for docs/platforms.md (scripts/measure/platforms.py).
set -uo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 1
prefix=${BIOGPU_ROCM_PREFIX:-$root/.rocm}
spill_free=${BIOGPU_SPILL_FREE:-^gpu/align/}
spill_free_nvidia=${BIOGPU_SPILL_FREE_NVIDIA:-^gpu/(align/(pairs|long|banded)/|ops/(attention/(attention|dot_product/(dot_product|shared_bias)_warpgroup)|gemm/gemm)\.hip|models/esm2/encoder_8m\.hip)}
jobs=${BIOGPU_JOBS:-2}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ccache knows no cubin of nvcc. The device libraries are no source that it would look at: their versions are.
cached=()
if command -v ccache >/dev/null; then
  cached=(env "CCACHE_BASEDIR=$root" CCACHE_NOHASHDIR=1 "CCACHE_EXTRAFILES=$prefix/.ready" ccache)
fi

# shellcheck source=scripts/dev/gpu_toolkit.sh
. scripts/dev/gpu_toolkit.sh
# shellcheck source=scripts/dev/kernel_rows.sh
. scripts/dev/kernel_rows.sh

# compile TARGET FILE: messages on standard output, status of the compiler.
compile() {
  local target=$1 file=$2 object options=()
  object=$work/$target.$(echo "$file" | tr / _).o
  # Hopper's own instructions want an architecture of their own.
  if [[ $target == sm_90 && $file == *_warpgroup.hip ]]; then target=sm_90a; fi
  case $target in
    sm_*)
      if [[ $file =~ $spill_free_nvidia ]]; then options=(-Xptxas --warn-on-spills); fi
      "$nvcc" -x cu -std=c++20 -O3 -arch="$target" -cubin -Werror all-warnings "${options[@]}" \
        -DBIOGPU_GPU_CUDA=1 -I . -isystem third_party/hip_on_cuda "$file" -o "$object" 2>&1
      ;;
    gfx*)
      ${cached[@]+"${cached[@]}"} clang++-19 -x hip -std=c++20 -O3 --offload-arch="$target" --cuda-device-only \
        --no-gpu-bundle-output --rocm-path="$prefix" \
        --rocm-device-lib-path="$prefix/amdgcn/bitcode" -isystem "$prefix/include" \
        -B"$prefix/llvm/bin" -DBIOGPU_GPU_ROCM=1 -I . -Wall -Wextra -Werror \
        -Wno-error=pass-failed -Rpass-analysis=kernel-resource-usage -c "$file" -o "$object" 2>&1
      ;;
  esac
}

# check_file TARGET FILE: compiles, writes messages to FILE.log and a status word to FILE.state.
check_file() {
  local target=$1 file=$2 base
  base=$work/$target.$(echo "$file" | tr / _)
  : >"$base.spills"
  if ! compile "$target" "$file" >"$base.log"; then
    echo "failed $file" >"$base.state"
    return
  fi
  # The remarks name a kernel, then its resources, one a line. Scalar registers spill into vector
  # registers, which is cheap; vector registers spill into memory.
  if awk -v file="$file" '
      /Function Name:/ { sub(/.*Function Name: /, ""); sub(/ \[-R.*/, ""); name = $0 }
      /[SV]GPRs Spill:/ {
        kind = /VGPRs/ ? "vector" : "scalar"
        sub(/.*Spill: /, ""); sub(/ .*/, "")
        if ($0 + 0 > 0) print file ": " name ": " $0 " " kind " registers spilled"
        if ($0 + 0 > 0 && kind == "vector") bad = 1
      }
      END { exit bad }' "$base.log" >"$base.spills"; then
    echo "ok $file" >"$base.state"
  elif [[ $file =~ $spill_free ]]; then
    echo "spills $file" >"$base.state"
  else
    echo "ok $file" >"$base.state"
  fi
}

# check_target TARGET FILES...: one line on standard output; details of failures on standard error.
check_target() {
  local target=$1 file base
  shift
  local started=$SECONDS n_bad=0 n_scalar=0 note=
  for file in "$@"; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    check_file "$target" "$file" &
  done
  wait
  for file in "$@"; do
    base=$work/$target.$(echo "$file" | tr / _)
    case $(cat "$base.state" 2>/dev/null) in
      ok*) ;;
      spills*)
        n_bad=$((n_bad + 1))
        echo "$target: $file: a kernel that must not spill does" >&2
        ;;
      *)
        n_bad=$((n_bad + 1))
        grep -v -E 'remark:|^ *\^|^ *[0-9]* \|' "$base.log" | head -n 40 >&2
        ;;
    esac
    if [ -n "${BIOGPU_RESOURCES:-}" ] && [[ $target == gfx* ]]; then
      { echo "$file"; cat "$base.log"; } >>"$BIOGPU_RESOURCES/$target.log"
    fi
    grep ' vector ' "$base.spills" | sed "s/^/$target: /" | c++filt >&2
    n_scalar=$((n_scalar + $(grep -c ' scalar ' "$base.spills")))
  done
  if [ $n_bad -gt 0 ]; then
    echo "compile check $target: FAILED, $n_bad of $# files"
    return 1
  fi
  [ $n_scalar = 0 ] || note="; $n_scalar kernels keep scalar registers in vector ones"
  echo "compile check $target: ok, $# files, $((SECONDS - started)) s$note"
}

skip_target() {
  local target=$1 why=$2
  case " ${BIOGPU_REQUIRE_TARGETS:-} " in
    *" $target "*)
      echo "compile check $target: FAILED, $why"
      return 1
      ;;
  esac
  echo "compile check $target: SKIPPED, $why"
}

case ${1:-all} in
  all) targets=(sm_90 gfx90a gfx942) ;;
  sm_90 | gfx90a | gfx942) targets=("$1") ;;
  *)
    sed -n '4p' "$0" >&2
    exit 2
    ;;
esac
what=${1:-all}
[ $# -eq 0 ] || shift
n_named=$#
if [ "${1:-}" = --spill-free ]; then
  [ $# = 1 ] || { sed -n '4p' "$0" | cut -c3- >&2; exit 2; }
  mapfile -t files < <(git ls-files 'gpu/*.hip' | grep -E "$spill_free_nvidia")
elif [ $# -gt 0 ]; then
  files=("$@")
else
  mapfile -t files < <(git ls-files 'gpu/*.hip')
fi
if [ ${#files[@]} -eq 0 ]; then
  echo "compile check: no kernel files" >&2
  exit 1
fi

nvcc=$(find_nvcc || true)
status=0
for target in "${targets[@]}"; do
  if [[ $target == sm_* ]] && [ -z "$nvcc" ]; then
    skip_target "$target" "no nvcc of CUDA 12.1 or newer" || status=1
  elif [[ $target == gfx* ]] && { [ ! -f "$prefix/.ready" ] || ! command -v clang++-19 >/dev/null; }; then
    skip_target "$target" "no compiler and headers; scripts/dev/rocm_prefix.sh fetches them" || status=1
  else
    if check_target "$target" "${files[@]}"; then
      vendor=AMD
      [[ $target != sm_* ]] || vendor=NVIDIA
      kernel_rows "$vendor $target" compiled "kernel files" "${files[@]}" >>"$work/record"
    else
      status=1
    fi
  fi
done
if [ "${BIOGPU_RECORD:-0}" = 1 ] && [ $status = 0 ] && [ $n_named = 0 ] && [ -s "$work/record" ]; then
  python3 scripts/measure/platforms.py "scripts/dev/compile_check.sh $what" <"$work/record"
fi
exit $status
