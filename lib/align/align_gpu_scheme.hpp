#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "gpu/align/cells.hpp"
#include "gpu/rt/error.hpp"
#include "lib/align/align.hpp"
#include "lib/core/error.hpp"

namespace biogpu::align {

// What the GPU backends of align and search share: options and tables in the kernels' form, and
// errors in the program's.

inline ErrorCode code_of(gpu::DeviceError::Kind kind) {
  switch (kind) {
    case gpu::DeviceError::Kind::unavailable:
      return ErrorCode::device;
    case gpu::DeviceError::Kind::out_of_memory:
      return ErrorCode::device_memory;
    case gpu::DeviceError::Kind::failed:
      break;
  }
  return ErrorCode::failed;
}

// Runs the function with every DeviceError turned into the Error that the program ends with.
template <class Function>
auto with_device_errors(Function&& function) {
  try {
    return std::forward<Function>(function)();
  } catch (const gpu::DeviceError& error) {
    throw Error(code_of(error.kind()), error.what());
  }
}

// [target class][query class] and a class for rows below a query: gpu::align::CellScheme::scores.
std::vector<std::int8_t> score_table(const Scoring& scoring);

// Scores against the first four classes, raised, as bytes of a word: CellScheme::packed_words. Used
// only where they fit; see allows_packed().
std::vector<std::uint32_t> packed_words(const Scoring& scoring, int raise);

// Costs and free ends; the tables are left to the caller.
gpu::align::CellScheme scheme_of(const Options& options);

}  // namespace biogpu::align
