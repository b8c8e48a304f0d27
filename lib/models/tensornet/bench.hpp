#pragma once

#include "lib/ops/bench/bench.hpp"

namespace biogpu::models::tensornet {

// The weights of edges out of a table, alone and with the sum of messages that they weigh.
void radial_table_bench(ops::OpBench& bench);
// Tensors of atoms out of their edges, and the gradient.
void radial_embed_bench(ops::OpBench& bench);

}  // namespace biogpu::models::tensornet
