#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::proteinmpnn {

// 32-bit words of a packed weight of kHidden outputs, and its steps.
int pack_steps(int n_in);
std::size_t pack_words(int n_in);

// Packs weight [kHidden, n_in], device memory, for products of split numbers. Inputs are filled up
// with zeros to whole steps.
void launch_pack(const float* weight, int n_in, std::uint32_t* words, Stream& stream);

}  // namespace biogpu::gpu::proteinmpnn
