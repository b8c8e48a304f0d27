#pragma once

#include <cstdint>

#include "lib/models/proteinmpnn/ops/declare.hpp"

namespace biogpu::models::proteinmpnn {

// How an operation that multiplies inside a block reads a linear map: for the edges of a node at a
// time, or for the node's own row (lib/models/proteinmpnn/ops/edge_message.hpp).
enum class BlockUse : std::uint8_t { edges, node };

// Context::upload_linear() for such an operation; no other reads the map. On GPUs n_out is a
// multiple of 128, and n_in of 4 where the use is `node`.
Linear upload_block_linear(Context& context, const Tensor& weight, const Tensor& bias,
                           BlockUse use);

// What a GPU context's operation "proteinmpnn.upload_block_linear" takes.
struct BlockLinearUpload {
  Tensor weight, bias;
  BlockUse use = BlockUse::edges;
  Linear* linear = nullptr;  // is set
};

}  // namespace biogpu::models::proteinmpnn
