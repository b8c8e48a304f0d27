#!/usr/bin/env bash
# Where scripts/quickstart.sh finds ROCm: where it can build, not where it is too old or headers alone.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=scripts/dev/gpu_toolkit.sh
. "$source_dir/scripts/dev/gpu_toolkit.sh"

# finds FOLDER: whether ROCm is found there when the environment names the folder.
# shellcheck disable=SC2317  # called by check
finds() { [ "$(ROCM_PATH=$1 find_rocm 2>why.txt)" = "$1" ]; }
# shellcheck disable=SC2317
passes_over() { ! finds "$1" && grep -qF "$1 " why.txt; }

# make_rocm FOLDER MAJOR: the headers that a build looks for.
make_rocm() {
  mkdir -p "$1/include/hip" "$1/bin"
  touch "$1/include/hip/hip_runtime.h"
  printf '#define HIP_VERSION_MAJOR %s\n' "$2" >"$1/include/hip/hip_version.h"
}
# add_compiler FOLDER: the program that names the compiler.
add_compiler() {
  printf '#!/bin/bash\n' >"$1/bin/hipconfig"
  chmod +x "$1/bin/hipconfig"
}

make_rocm "$work/old" 5
add_compiler "$work/old"
check "HIP 5 is too old" passes_over "$work/old"
make_rocm "$work/rocm" 6
if ! command -v hipconfig >/dev/null; then
  check "headers alone do not build" passes_over "$work/rocm"
fi
add_compiler "$work/rocm"
check "HIP 6 with its compiler" finds "$work/rocm"
# shellcheck disable=SC2016  # expanded by the inner shell
check "the preset, where there is no CUDA" bash -c '
  . "$1/scripts/dev/gpu_toolkit.sh"
  find_nvcc() { return 1; }
  [ "$(ROCM_PATH=$2 gpu_preset)" = rocm ]' bash "$source_dir" "$work/rocm"
finish
