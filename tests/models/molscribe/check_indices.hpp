#pragma once

#include <cstdint>
#include <vector>

#include "tests/ops/op_bed.hpp"

namespace biogpu::test {

// The numbers on the device are those on the host.
inline void check_indices(Bed& bed, const Indices& indices) {
  std::vector<std::int32_t> got(indices.values.size());
  bed.device().copy_out(got.data(), indices.device);
  bed.device().synchronize();
  CHECK(got == indices.values);
}

}  // namespace biogpu::test
