#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/models/structure/block_parts.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/tensor.hpp"
#include "lib/tensor/weights/weight_table.hpp"

// The kinds of blocks that other programs can make: which arrays a kind takes, and what it computes
// of them.
namespace biogpu::c_api {

// Extents that weights do not tell, in the place of one: the same in all arrays of a call.
inline constexpr std::int64_t kTokens = -1;   // or atoms
inline constexpr std::int64_t kRows = -2;     // of an alignment
inline constexpr std::int64_t kWindows = -3;  // ceil(kTokens / 32); behind an array of kTokens

struct InputSpec {
  enum class Kind { numbers, optional_numbers, mask };  // a mask is optional and f32
  const char* name;
  std::vector<std::int64_t> shape;  // without the axis of batches
  Kind kind = Kind::numbers;
};

// A block with its weights.
struct MadeBlock {
  std::vector<InputSpec> inputs;
  std::size_t updated = 0;  // the input that the update belongs to; results have its shape
  // The first inputs, as many as these, may have the rows of several items that share all others.
  std::size_t n_of_rows = 0;
  // Of one item of a batch, or of rows of several. inputs: as the specifications, contiguous, f32
  // or operands; those that are not given are empty.
  std::function<void(const models::BlockContext& run, const std::vector<tensor::Tensor>& inputs,
                     const models::UpdateTarget& target)>
      write;
};

inline constexpr char kBlock[] = "block";         // in front of the names of weights in the table
inline constexpr std::int64_t kMaxGpuHead = 192;  // numbers of a head of attention

// kind: as `biogpu lab list` has it. Throws Error{usage} for an unknown one and for widths that
// fit no block; the table tells all other defects.
MadeBlock make_block(tensor::Context& context, const std::string& kind, tensor::WeightTable& table,
                     float eps);

}  // namespace biogpu::c_api
