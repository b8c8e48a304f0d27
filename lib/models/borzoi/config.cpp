#include "lib/models/borzoi/config.hpp"

#include <fmt/format.h>

#include "lib/core/error.hpp"

namespace biogpu::models::borzoi {
namespace {

constexpr std::int64_t kMaxWidth = std::int64_t{1} << 16;
constexpr std::int64_t kMaxBlocks = 1024;
constexpr std::int64_t kAllButEnds = 16384 - 32;  // bins where no fewer are asked for

void read_attention(const ModelConfig& file, Config& config) {
  config.is_flash = file.flag_or("flashed", false);
  config.n_heads = file.count_or("heads", 8, kMaxWidth);
  if (!config.is_flash) {
    config.n_key_heads = config.n_heads;
    config.d_key = file.count_or("attn_dim_key", 64, kMaxWidth);
    config.d_value = file.count_or("attn_dim_value", 192, kMaxWidth);
    return;
  }
  if (config.width % config.n_heads != 0 || config.n_heads % 2 != 0)
    file.fail(fmt::format(
        "dim is {} and heads is {}; expected an even number of heads, and a multiple of it",
        config.width, config.n_heads));
  config.n_key_heads = config.n_heads / 2;
  config.d_key = config.d_value = config.width / config.n_heads;
  config.n_rotated = file.count_or("rotary_emb_dim", 128, kMaxWidth);
  if (config.n_rotated > config.d_key || config.n_rotated % 2 != 0)
    file.fail(
        fmt::format("{} numbers of a head are rotated, rotary_emb_dim; expected an even "
                    "number up to dim / heads, {}",
                    config.n_rotated, config.d_key));
}

void read_lengths(const ModelConfig& file, Config& config) {
  const std::int64_t position = std::int64_t{1} << config.n_levels();
  config.sequence_length =
      file.count_or("sequence_length", kMaxPositions * position, kMaxPositions * position);
  // A pool leaves out a last row that has no second one; the U-Net goes back to twice the rows.
  const std::int64_t rows_of_position = position / config.bin_size();
  if (config.n_positions() < 1 || config.n_rows() % rows_of_position != 0)
    file.fail(
        fmt::format("sequence_length is {}, which is {} whole bins of {}; expected a multiple "
                    "of {} bins",
                    config.sequence_length, config.n_rows(), config.bin_size(), rows_of_position));
  if (file.flag_or("return_center_bins_only", true))
    config.bins =
        crop_bins(file, "bins_to_return", config.n_rows(), file.integer_or("bins_to_return", 6144));
  else
    config.bins = crop_bins(file,
                            "return_center_bins_only false, which leaves 32 bins out: "
                            "the number of bins",
                            config.n_rows(), kAllButEnds);
}

// What borzoi-pytorch's config has: the two heads of its constants, each where it is enabled.
std::vector<TrackHead> read_heads(const ModelConfig& file) {
  std::vector<TrackHead> heads;
  if (file.flag_or("enable_human_head", true)) heads.push_back({"human", 7611});
  if (file.flag_or("enable_mouse_head", false)) heads.push_back({"mouse", 2608});
  heads = read_track_heads(file, std::move(heads));
  if (heads.empty())
    file.fail("enable_human_head and enable_mouse_head are false: no head is left");
  return heads;
}

}  // namespace

Config read_config(const ModelConfig& file) {
  Config config;
  config.width = file.count_or("dim", 1536, kMaxWidth);
  config.n_blocks = file.count_or("depth", 8, kMaxBlocks);
  config.channels = file.counts_or("conv_channels", {512, 608, 736, 896, 1056, 1280}, kMaxWidth);
  config.channels.push_back(config.width);
  config.final_width = file.count_or("final_channels", 1920, kMaxWidth);
  read_attention(file, config);
  read_lengths(file, config);
  config.heads = read_heads(file);
  for (TrackHead& head : config.heads) head.bins = config.grid();
  return config;
}

void require_gpu_shape(const ModelConfig& file, const Config& config) {
  const std::int64_t largest = config.is_flash ? 192 : 64;
  if (config.d_key > largest)
    file.fail(fmt::format("{} is {}; GPUs take up to {}; use --device cpu",
                          config.is_flash ? "dim / heads" : "attn_dim_key", config.d_key, largest));
}

}  // namespace biogpu::models::borzoi
