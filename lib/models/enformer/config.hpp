#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/models/base/dna_model.hpp"
#include "lib/models/base/model_config.hpp"
#include "lib/models/enformer/positional_features.hpp"
#include "lib/models/layers/track_config.hpp"

namespace biogpu::models::enformer {

// config.json as enformer-pytorch writes it, checked, and what follows from it. Keys that are
// missing have the published model's values.
struct Config {
  std::int64_t width = 0;              // of the transformer: dim
  std::int64_t n_blocks = 0;           // depth
  std::int64_t n_heads = 0;            // of attention
  std::int64_t d_key = 0;              // of one head of attention
  std::int64_t d_value = 0;            // width / n_heads, also the number of positional features
  std::vector<std::int64_t> channels;  // of the stem, then of each tower block; the last is width
  std::int64_t sequence_length = 0;    // bases of a window
  // Positions of the transformer: whole bins of a window, and one more where bases are left.
  std::int64_t n_positions = 0;
  std::int64_t first_bin = 0;    // position of the first bin
  std::int64_t n_bins = 0;       // positions that predictions are for
  std::vector<TrackHead> heads;  // by name
  // From the key `gamma`; nothing: the table where the folder has it, else by use_tf_gamma.
  std::optional<GammaForm> gamma;
  bool use_tf_gamma = false;

  std::int64_t bin_size() const { return std::int64_t{1} << channels.size(); }
  std::int64_t first_base() const { return first_bin * bin_size(); }  // of the first bin
  BinGrid grid() const { return {bin_size(), first_base(), n_bins}; }
  std::int64_t embedding_width() const { return 2 * width; }
};

// Throws Error{bad_input} naming the key.
Config read_config(const ModelConfig& file);
// Throws the same for a shape that only CPUs take.
void require_gpu_shape(const ModelConfig& file, const Config& config);

}  // namespace biogpu::models::enformer
