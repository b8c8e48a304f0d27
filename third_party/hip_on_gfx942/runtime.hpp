#pragma once

// What the files of the runtime share.

#include <hip/hip_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "machine.hpp"

namespace hip_on_gfx942 {

// A kernel as it was launched; no function: a step of another kind.
struct Launch {
  const void* function = nullptr;
  dim3 blocks, threads;
  std::uint32_t shared_bytes = 0;
};

struct Found {
  std::string name;
  const Kernel* kernel = nullptr;
};
Found find_kernel(const void* function);

// Keeps an error for hipGetLastError().
hipError_t remember(hipError_t error);

// Does the work, or keeps it where the stream records.
hipError_t perform(hipStream_t stream, std::function<void()> work, const Launch& launch = {});

// Adds a step behind the last one of recorded work.
void append(ihipGraph& graph, std::function<void()> work, const Launch& launch);

}  // namespace hip_on_gfx942

struct ihipStream_t {
  hipGraph_t recording = nullptr;
};
struct ihipEvent_t {
  std::chrono::steady_clock::time_point time;
};
