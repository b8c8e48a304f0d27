#pragma once

#include <cstdint>

#include "gpu/align/cells.hpp"

namespace biogpu::gpu::align {

// What is computed for every pair of a run. The pointers of scheme are device memory.
struct BatchSettings {
  CellScheme scheme;
  int max_score = 0;       // of one pair of residues
  bool with_path = false;  // scores and ends alone otherwise
};

// The kernel and the shape that a pair goes to.
struct KernelChoice {
  bool packed = false;     // pair_score_i16 rather than pair_cells or pair_trace
  std::int32_t shape = 0;  // index into kPackedShapes or kPairShapes
  std::int32_t n_tiles = 0;

  bool operator==(const KernelChoice&) const = default;
  GroupShape group() const;
};

// The kernel that computes the pair right and fills the fewest cells. four_letters: the target
// holds the classes 0..3 alone, as the packed kernel wants.
KernelChoice choose_kernel(std::int64_t n_rows, std::int64_t n_columns, bool four_letters,
                           const BatchSettings& settings);

// Whether the packed kernel can be used under these scores at all.
bool allows_packed(const BatchSettings& settings);

// Device memory that a pair needs in a batch.
std::uint64_t pair_bytes(std::int64_t n_rows, std::int64_t n_columns, const KernelChoice& choice,
                         bool with_path);

}  // namespace biogpu::gpu::align
