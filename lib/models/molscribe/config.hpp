#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/models/base/model_config.hpp"

namespace biogpu::models::molscribe {

// Shape of the network. Defaults are the published model's.
struct Config {
  std::int64_t input_size = 384;  // pixels of a side
  std::int64_t patch_size = 4;
  std::int64_t embed_dim = 128;
  std::int64_t window = 12;
  std::vector<std::int64_t> depths{2, 2, 18, 2};  // blocks of a stage
  std::vector<std::int64_t> heads{4, 8, 16, 32};
  std::int64_t decoder_layers = 6;
  std::int64_t decoder_width = 256;
  std::int64_t decoder_heads = 8;
  std::int64_t coord_bins = 64;
  std::int64_t max_length = 480;  // tokens
  std::string vocab_file = "vocab_chars.json";

  std::size_t n_stages() const { return depths.size(); }
  // Of a stage: rows of the grid on a side, and channels.
  std::int64_t resolution(std::size_t stage) const { return input_size / patch_size >> stage; }
  std::int64_t width(std::size_t stage) const { return embed_dim << stage; }
  std::int64_t encoder_width() const { return width(n_stages() - 1); }
  std::int64_t n_memory() const { return resolution(n_stages() - 1) * resolution(n_stages() - 1); }
};

// Throws Error{bad_input} for values that the model does not have or that do not fit each other.
Config read_config(const ModelConfig& file);

}  // namespace biogpu::models::molscribe
