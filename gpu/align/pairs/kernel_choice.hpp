#pragma once

#include <cstdint>

#include "gpu/align/cells.hpp"

namespace biogpu::gpu::align {

// The kernel and the shape that a pair goes to.
struct KernelChoice {
  bool packed = false;     // pair_score_i16 and pair_trace_i16, not pair_cells and pair_trace
  std::int32_t shape = 0;  // index into kPackedShapes or kPairShapes
  std::int32_t n_tiles = 0;

  bool operator==(const KernelChoice&) const = default;
  GroupShape group() const;
};

// The kernel that computes the pair right and takes the least work. four_letters: the target
// holds the classes 0..3 alone, as the packed kernel wants.
KernelChoice choose_kernel(std::int64_t n_rows, std::int64_t n_columns, bool four_letters,
                           const BatchSettings& settings);

// Whether the packed kernels can be used under these scores at all.
bool allows_packed(const BatchSettings& settings);

// CellScheme::packed_raise and packed_bias for these scores and costs.
int packed_raise(const BatchSettings& settings);
int packed_bias(const BatchSettings& settings);

// Device memory that a pair needs in a batch.
std::uint64_t pair_bytes(std::int64_t n_rows, std::int64_t n_columns, const KernelChoice& choice,
                         const BatchSettings& settings);

}  // namespace biogpu::gpu::align
