# Which GPU toolkit and which GPU this machine has: sourced by the scripts that build for one.
# shellcheck shell=bash

# find_nvcc: the first nvcc that knows C++20 on PATH, under CUDA_HOME or CUDA_PATH, or where NVIDIA's
# packages put it. Debian 12's own, CUDA 11.8, is too old and passed over.
find_nvcc() {
  local nvcc major
  for nvcc in "$(command -v nvcc || true)" "${CUDA_HOME:-}/bin/nvcc" "${CUDA_PATH:-}/bin/nvcc" \
    /usr/local/cuda/bin/nvcc; do
    [ -x "$nvcc" ] || continue
    major=$("$nvcc" --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
    if [ "${major:-0}" -ge 12 ]; then
      echo "$nvcc"
      return
    fi
    echo "$nvcc is CUDA ${major:-unknown}, older than 12, and not used" >&2
  done
  return 1
}

# find_rocm: the folder of a ROCm installation that can build: /opt/rocm, or /usr where a distribution
# packages it. Debian 12's own, HIP 5.2, is too old and passed over.
find_rocm() {
  local rocm major
  for rocm in "${ROCM_PATH:-/opt/rocm}" /opt/rocm /usr; do
    [ -f "$rocm/include/hip/hip_runtime.h" ] || continue
    major=$(sed -n 's/^#define HIP_VERSION_MAJOR *//p' "$rocm/include/hip/hip_version.h" 2>/dev/null)
    # Headers alone, as other packages need them, do not build: hipconfig names the compiler.
    if [ "${major:-0}" -ge 6 ] && { [ -x "$rocm/bin/hipconfig" ] || command -v hipconfig >/dev/null; }; then
      echo "$rocm"
      return
    fi
    echo "$rocm holds HIP ${major:-unknown}, older than 6 or without hipcc, and is not used" >&2
  done
  return 1
}

# gpu_preset: the preset that this machine's toolkit can build.
gpu_preset() {
  if find_nvcc >/dev/null; then
    echo cuda
  elif find_rocm >/dev/null; then
    echo rocm
  else
    return 1
  fi
}

# has_gpu_for PRESET: whether a GPU that the preset's program can use shows itself here.
has_gpu_for() {
  case $1 in
    cuda) [ -e /dev/nvidia0 ] || { nvidia-smi -L 2>/dev/null | grep -q '^GPU '; } ;;
    rocm) [ -e /dev/kfd ] ;;
    *) return 1 ;;
  esac
}

# use_toolkit_of PRESET: makes CMake find the compiler of a GPU preset.
use_toolkit_of() {
  case $1 in
    cuda) CUDACXX=$(find_nvcc) && export CUDACXX ;;
    rocm)
      # In /usr the compiler finds it; named, CMake looks in the wrong folders of a distribution.
      ROCM_PATH=$(find_rocm) && export ROCM_PATH
      [ "$ROCM_PATH" != /usr ] || unset ROCM_PATH
      ;;
  esac
}
