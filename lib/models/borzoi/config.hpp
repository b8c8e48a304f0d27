#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/models/base/dna_model.hpp"
#include "lib/models/base/model_config.hpp"
#include "lib/models/layers/track_config.hpp"

namespace biogpu::models::borzoi {

inline constexpr std::int64_t kSeparableTaps = 3;
// The features of relative positions are those of the length that the model was trained with, for
// shorter windows too.
inline constexpr std::int64_t kMaxPositions = 4096;
inline constexpr std::int64_t kFeatures = 32;  // widths and their signs

// config.json as borzoi-pytorch writes it, checked, and what follows from it. Keys that are missing
// have the published model's values. What borzoi-pytorch has as constants may be given by keys, for
// small models: conv_channels, final_channels, rotary_emb_dim.
struct Config {
  bool is_flash = false;                // Flashzoi: rotary positions, shared key heads
  std::int64_t width = 0;               // of the transformer and the U-Net: dim
  std::int64_t n_blocks = 0;            // depth
  std::int64_t n_heads = 0;             // of attention
  std::int64_t n_key_heads = 0;         // Flashzoi: half of them
  std::int64_t d_key = 0, d_value = 0;  // of one head
  std::int64_t n_rotated = 0;           // Flashzoi: numbers of a head that are rotated
  // Of the first convolution and of each further one, a pool by two before each; the last is width.
  std::vector<std::int64_t> channels;
  std::int64_t final_width = 0;      // of the embedding
  std::int64_t sequence_length = 0;  // bases of a window
  BinRange bins;                     // of rows of the U-Net's result
  std::vector<TrackHead> heads;      // by name

  // The U-Net goes back to the rows of these convolutions, the last ones.
  std::int64_t n_skips() const { return 2; }
  // How often bases were pooled before up.I of the U-Net.
  std::size_t skip_level(std::size_t index) const {
    return static_cast<std::size_t>(n_levels() - n_skips()) + index;
  }
  std::int64_t n_levels() const { return static_cast<std::int64_t>(channels.size()); }
  std::int64_t n_positions() const { return sequence_length >> n_levels(); }
  std::int64_t bin_size() const { return std::int64_t{1} << (n_levels() - n_skips()); }
  std::int64_t n_rows() const { return sequence_length / bin_size(); }
  std::int64_t first_base() const { return bins.first * bin_size(); }  // of the first bin
  BinGrid grid() const { return {bin_size(), first_base(), bins.n}; }
  const char* name() const { return is_flash ? "Flashzoi" : "Borzoi"; }
};

// Throws Error{bad_input} naming the key.
Config read_config(const ModelConfig& file);
// Throws the same for a shape that only CPUs take.
void require_gpu_shape(const ModelConfig& file, const Config& config);

}  // namespace biogpu::models::borzoi
