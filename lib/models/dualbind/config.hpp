#pragma once

#include <cstdint>

#include "lib/models/base/model_config.hpp"
#include "lib/tensor/context.hpp"

namespace biogpu::models::dualbind {

// What config.json says; numbers that it leaves out are those of the published model.
struct Config {
  std::int64_t width = 256;
  std::int64_t n_message_steps = 3;  // with the first, which has no neighbours
  std::int64_t n_heads = 4;
  std::int64_t d_ffn = 256;
  float cutoff = 10;              // Angstrom, of pairs
  std::int64_t pocket_size = 50;  // residues
};

// Throws Error{bad_input} for a key that is not known, or a number that the model cannot have.
Config read_config(const ModelConfig& file, const tensor::Context& context);

}  // namespace biogpu::models::dualbind
