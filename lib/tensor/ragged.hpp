#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/tensor/tensor.hpp"

namespace biogpu::tensor {

// Rows of segments of any length (sequences, structures, molecules, windows), one after the other
// without padding: segment s has rows [starts[s], starts[s + 1]). Made by Context::upload_ragged().
// n_rows may be more than starts.back(), rounded up to a bucket for captured graphs: rows past the
// end belong to no segment, operations may leave anything in them, and nothing of them reaches
// other rows.
struct Ragged {
  std::int64_t n_rows = 0;
  std::int64_t n_segments = 0;
  std::int64_t max_length = 0;       // of the longest segment, in rows
  std::vector<std::int32_t> starts;  // on the host, [n_segments + 1], from 0, rising
  Tensor positions;                  // i32 [n_rows], from 0 in each segment
  Tensor device_starts;              // i32 [n_segments + 1]
  std::shared_ptr<void> plan;        // the context's own, for example a work list for attention

  std::int64_t begin(std::int64_t segment) const {
    return starts[static_cast<std::size_t>(segment)];
  }
  std::int64_t end(std::int64_t segment) const {
    return starts[static_cast<std::size_t>(segment) + 1];
  }
  std::int64_t length(std::int64_t segment) const { return end(segment) - begin(segment); }
};

}  // namespace biogpu::tensor
