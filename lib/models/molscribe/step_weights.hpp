#pragma once

#include <cstdint>
#include <string>

#include "lib/models/molscribe/config.hpp"
#include "lib/models/molscribe/ops/decode_steps.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models::molscribe {

// Weights of the decoder's layers and of its head as decode_steps reads them, in fp32.
struct StepWeights {
  tensor::Tensor layers, head, head_bias;
};

// root: what names in the checkpoint begin with.
StepWeights take_step_weights(const Config& config, std::int64_t n_tokens, const std::string& root,
                              tensor::WeightTable& table, tensor::Context& context);

}  // namespace biogpu::models::molscribe
