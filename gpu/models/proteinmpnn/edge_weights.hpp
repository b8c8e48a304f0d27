#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::proteinmpnn::edges {

// A linear map as operations on edges read it (lib/models/proteinmpnn/ops/block_linear.hpp):
// Linear::packed of a device.
struct BlockLinear {
  std::uint32_t* words = nullptr;  // edges: [kHidden, n_in] as launch_pack() writes it
  int n_steps = 0;                 // of 16 inputs
  float* columns = nullptr;        // node: [n_in / 4][n_out][4]: neighbours read neighbours
  const float* bias = nullptr;     // [n_out], or not given
};

// 32-bit words of a packed weight of kHidden outputs, and its steps.
int pack_steps(int n_in);
std::size_t pack_words(int n_in);

// Packs weight [kHidden, n_in], device memory, for products of split numbers. Inputs are filled up
// with zeros to whole steps.
void launch_pack(const float* weight, int n_in, std::uint32_t* words, Stream& stream);

}  // namespace biogpu::gpu::proteinmpnn::edges
