# For cmake --toolchain: the preset rocm built for gfx942 alone, with clang 19 and the headers of
# scripts/dev/rocm_prefix.sh, and the runtime in this folder instead of AMD's.
set(HIP_ON_GFX942 "${CMAKE_CURRENT_LIST_DIR}")
set(HIP_ON_GFX942_PREFIX "$ENV{BIOGPU_ROCM_PREFIX}")
if(NOT HIP_ON_GFX942_PREFIX)
  get_filename_component(HIP_ON_GFX942_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.rocm" ABSOLUTE)
endif()

# The compiler is what it is said to be: CMake's own tries want a whole ROCm.
set(CMAKE_HIP_COMPILER clang++-19)
set(CMAKE_HIP_COMPILER_ID_RUN TRUE)
set(CMAKE_HIP_COMPILER_ID Clang)
set(CMAKE_HIP_COMPILER_VERSION 19.1)
set(CMAKE_HIP_COMPILER_FORCED TRUE)
set(CMAKE_HIP_COMPILER_ROCM_ROOT "${HIP_ON_GFX942}")
set(CMAKE_HIP_IMPLICIT_INCLUDE_DIRECTORIES /usr/include)  # never named, which would change their order
set(CMAKE_HIP_ARCHITECTURES gfx942)
string(CONCAT CMAKE_HIP_FLAGS_INIT "-std=c++20 --rocm-path=${HIP_ON_GFX942_PREFIX} "
              "--rocm-device-lib-path=${HIP_ON_GFX942_PREFIX}/amdgcn/bitcode -isystem ${HIP_ON_GFX942_PREFIX}/include "
              "-B${HIP_ON_GFX942_PREFIX}/llvm/bin -Rpass-analysis=kernel-resource-usage")

# find_package(hip) finds the runtime in this folder.
set(hip_DIR "${HIP_ON_GFX942}/lib/cmake/hip")
