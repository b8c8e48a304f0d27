#!/usr/bin/env bash
# Checks the syntax of every GPU kernel file against the headers of CUDA 12.1, the oldest release that biogpu supports,
# with clang: no toolkit of that release and no GPU are needed.
#
# usage: scripts/dev/cuda_headers_check.sh [FILE.hip ...]    default: every gpu/**/*.hip that git knows
#
# The headers come as NVIDIA's Python packages into BIOGPU_CUDA_HEADERS, default build/cuda-12.1. Of CUB's release there
# the packages lack what it includes of libcu++, so that CUB is that of CUDA 12.4. Exit status: 0 when all are accepted,
# 1 when not, 3 when the headers or clang 16 to 19 cannot be had. With BIOGPU_RECORD=1 a check of all files is recorded
# for docs/platforms.md (scripts/measure/platforms.py).
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=scripts/dev/kernel_rows.sh
. scripts/dev/kernel_rows.sh

packages=(nvidia-cuda-nvcc-cu12==12.1.105 nvidia-cuda-runtime-cu12==12.1.105 nvidia-cuda-cccl-cu12==12.4.127.post1)
folder=${BIOGPU_CUDA_HEADERS:-build/cuda-12.1}
jobs=${BIOGPU_JOBS:-2}
for version in 19 18 17 16; do
  compiler=$(command -v "clang++-$version") && break
done
[ -n "${compiler:-}" ] || { echo "CUDA headers: SKIPPED, no clang++-16 to clang++-19"; exit 3; }

if [ "$(cat "$folder/.ready" 2>/dev/null)" != "${packages[*]}" ]; then
  rm -rf "$folder"
  mkdir -p "$folder/wheels" "$folder/bin" "$folder/include" "$folder/nvvm/libdevice"
  python3 -m pip download -q --no-deps -d "$folder/wheels" "${packages[@]}" >"$folder/pip.log" 2>&1 ||
    { echo "CUDA headers: SKIPPED, the packages cannot be fetched"; exit 3; }
  for wheel in "$folder"/wheels/*.whl; do
    python3 -m zipfile -e "$wheel" "$folder/wheels"
  done
  for include in "$folder"/wheels/nvidia/*/include; do
    cp -rf "$include"/. "$folder/include"
  done
  cp "$folder"/wheels/nvidia/cuda_nvcc/nvvm/libdevice/*.bc "$folder/nvvm/libdevice"
  echo "${packages[*]}" >"$folder/.ready"
fi

# check FILE: prints errors. Instructions that only Hopper has want sm_90a. The headers are named before the compiler's own
# folders, of which /usr/local/include may hold those of an installed toolkit.
check() {
  local file=$1 architecture=sm_80
  [[ $file != *_warpgroup.hip ]] || architecture=sm_90a
  "$compiler" -x cuda -std=c++20 -fsyntax-only --cuda-gpu-arch=$architecture --cuda-device-only \
    --cuda-path="$folder" -isystem "$folder/include" -Wno-unknown-cuda-version -DBIOGPU_GPU_CUDA=1 -I . \
    -isystem third_party/hip_on_cuda "$file"
}
export -f check
export compiler folder
printf '#include <cuda_runtime.h>\n#if CUDART_VERSION != 12010\n#error not of CUDA 12.1\n#endif\n' >"$folder/version.cu"
check "$folder/version.cu" || { echo "CUDA headers: FAILED, others are found before those in $folder"; exit 1; }
files=("$@")
[ $# -gt 0 ] || mapfile -t files < <(git ls-files 'gpu/*.hip')
if printf '%s\0' "${files[@]}" | xargs -0 -P "$jobs" -I{} bash -c 'check {}'; then
  echo "CUDA headers: ok, ${#files[@]} files with those of CUDA 12.1"
else
  echo "CUDA headers: FAILED"
  exit 1
fi
if [ "${BIOGPU_RECORD:-0}" = 1 ] && [ $# = 0 ]; then
  mapfile -t sm_80 < <(printf '%s\n' "${files[@]}" | grep -v '_warpgroup\.hip$')
  mapfile -t sm_90a < <(printf '%s\n' "${files[@]}" | grep '_warpgroup\.hip$')
  {
    kernel_rows "NVIDIA sm_80" parsed "kernel files with the headers of CUDA 12.1" "${sm_80[@]}"
    kernel_rows "NVIDIA sm_90" parsed "kernel files with the headers of CUDA 12.1, as sm_90a" "${sm_90a[@]}"
  } |
    python3 scripts/measure/platforms.py scripts/dev/cuda_headers_check.sh
fi
