#include "lib/models/molscribe/config.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/core/quote.hpp"

namespace biogpu::models::molscribe {
namespace {

constexpr std::int64_t kMaxSide = 4096, kMaxWidth = 4096, kMaxTokens = 4096;

void require_shape(const ModelConfig& file, const Config& config) {
  const auto fail_unless = [&](bool holds, const std::string& what) {
    if (!holds) file.fail(what);
  };
  for (std::size_t stage = 0; stage < config.n_stages(); ++stage) {
    fail_unless(config.resolution(stage) << stage == config.input_size / config.patch_size &&
                    config.input_size % config.patch_size == 0 &&
                    config.resolution(stage) % config.window == 0,
                fmt::format("input_size {} does not give whole windows of {} in stage {}",
                            config.input_size, config.window, stage));
    fail_unless(config.width(stage) % config.heads[stage] == 0,
                fmt::format("{} channels of stage {} do not divide into {} heads",
                            config.width(stage), stage, config.heads[stage]));
  }
  fail_unless(config.window > 1,
              fmt::format("swin_window is {}; expected at least 2", config.window));
  fail_unless(config.decoder_width % config.decoder_heads == 0 && config.decoder_width % 2 == 0,
              fmt::format("dec_hidden_size {} does not divide into {} heads", config.decoder_width,
                          config.decoder_heads));
}

// Text of a training program, or its list.
void require_formats(const ModelConfig& file) {
  if (!file.has("formats")) return;
  const std::vector<std::string> expected{"chartok_coords", "edges"};
  if (file.texts("formats") != expected)
    file.fail("formats is of another model; expected [\"chartok_coords\", \"edges\"]");
}

}  // namespace

Config read_config(const ModelConfig& file) {
  Config config;
  file.require("encoder", std::string("swin_base"));
  file.require("decoder", std::string("transformer"));
  for (const char* key : {"continuous_coords", "enc_pos_emb", "trunc_encoder"})
    file.require(key, false);
  file.require("sep_xy", true);
  if (file.integer_or("max_relative_positions", 0) != 0)
    file.fail("max_relative_positions is not 0, which is another decoder");
  require_formats(file);
  config.input_size = file.count_or("input_size", config.input_size, kMaxSide);
  config.coord_bins = file.count_or("coord_bins", config.coord_bins, kMaxTokens);
  if (config.coord_bins < 2) file.fail("coord_bins is 1; expected at least 2");
  config.decoder_layers = file.count_or("dec_num_layers", config.decoder_layers, 64);
  config.decoder_width = file.count_or("dec_hidden_size", config.decoder_width, kMaxWidth);
  config.decoder_heads = file.count_or("dec_attn_heads", config.decoder_heads, kMaxWidth);
  config.embed_dim = file.count_or("swin_embed_dim", config.embed_dim, kMaxWidth / 8);
  config.window = file.count_or("swin_window", config.window, 32);
  config.depths = file.counts_or("swin_depths", config.depths, 64);
  config.heads = file.counts_or("swin_heads", config.heads, 64);
  config.max_length = file.count_or("max_length", config.max_length, kMaxTokens);
  config.vocab_file = file.text_or("vocab_file", config.vocab_file);
  if (config.vocab_file.empty() || config.vocab_file.find('/') != std::string::npos)
    file.fail("vocab_file is " + biogpu::quoted(config.vocab_file) +
              "; expected the name of a file in the model's folder");
  require_shape(file, config);
  return config;
}

}  // namespace biogpu::models::molscribe
