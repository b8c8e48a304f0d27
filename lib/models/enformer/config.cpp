#include "lib/models/enformer/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::models::enformer {
namespace {

constexpr std::int64_t kMaxWidth = std::int64_t{1} << 16;
constexpr std::int64_t kMaxBlocks = 1024;
constexpr std::int64_t kMaxBases = std::int64_t{1} << 22;
constexpr std::int64_t kMaxPositions = std::int64_t{1} << 14;
constexpr std::int64_t kMinDownsamples = 3;  // the tower's widths are an interpolation
constexpr std::int64_t kMaxDownsamples = 16;

// Channels of the stem and of the tower's blocks: from half of the width to the width, by equal
// factors, rounded to multiples; halves go to the even multiple.
std::vector<std::int64_t> tower_channels(const ModelConfig& file, std::int64_t width,
                                         std::int64_t n_downsamples) {
  const std::int64_t divisor = file.count_or("dim_divisible_by", 128);
  const std::int64_t n = n_downsamples - 1;
  const std::int64_t half = width / 2;
  const auto first = static_cast<double>(half);
  const double base =
      std::exp(std::log(static_cast<double>(width) / first) / static_cast<double>(n - 1));
  std::vector<std::int64_t> channels{half};
  for (std::int64_t i = 0; i < n; ++i) {
    const double exact = first * std::pow(base, static_cast<double>(i));
    channels.push_back(
        divisor * static_cast<std::int64_t>(std::nearbyint(exact / static_cast<double>(divisor))));
  }
  const auto smallest = *std::min_element(channels.begin(), channels.end());
  if (smallest < 1 || channels.back() != width)
    file.fail(fmt::format(
        "dim is {} and dim_divisible_by {}; expected half of dim not to round to 0 and dim to be "
        "a multiple",
        width, divisor));
  return channels;
}

void read_attention(const ModelConfig& file, Config& config) {
  config.n_heads = file.count_or("heads", 8);
  config.d_key = file.count_or("attn_dim_key", 64, kMaxWidth);
  if (config.width % config.n_heads != 0)
    file.fail(fmt::format("dim is {} and heads is {}; expected a multiple", config.width,
                          config.n_heads));
  config.d_value = config.width / config.n_heads;
  if (config.d_value % (2 * kFeatureClasses) != 0)
    file.fail(
        fmt::format("dim is {} and heads is {}; expected dim / heads to be a multiple of {}, for "
                    "the positional "
                    "features",
                    config.width, config.n_heads, 2 * kFeatureClasses));
}

void read_lengths(const ModelConfig& file, std::int64_t n_downsamples, Config& config) {
  config.sequence_length = file.count_or("sequence_length", 196608, kMaxBases);
  const std::int64_t bin = std::int64_t{1} << n_downsamples;
  config.n_positions = (config.sequence_length + bin - 1) / bin;
  if (config.n_positions > kMaxPositions)
    file.fail(fmt::format("sequence_length is {} and num_downsamples {}; expected at most {}",
                          config.sequence_length, n_downsamples, bin * kMaxPositions));
  const BinRange bins =
      crop_bins(file, "target_length", config.n_positions, file.integer_or("target_length", 896));
  config.first_bin = bins.first;
  config.n_bins = bins.n;
}

void read_gamma(const ModelConfig& file, Config& config) {
  config.use_tf_gamma = file.flag_or("use_tf_gamma", false);
  if (!file.has("gamma")) return;
  try {
    config.gamma = parse_gamma_form(file.text_or("gamma", ""));
  } catch (const Error& error) {
    file.fail(error.what());
  }
}

}  // namespace

Config read_config(const ModelConfig& file) {
  Config config;
  config.width = file.count_or("dim", 1536, kMaxWidth);
  if (config.width % 2 != 0)
    file.fail(fmt::format("dim is {}; expected an even number", config.width));
  config.n_blocks = file.count_or("depth", 11, kMaxBlocks);
  const std::int64_t n_downsamples = file.count_or("num_downsamples", 7, kMaxDownsamples);
  if (n_downsamples < kMinDownsamples)
    file.fail(
        fmt::format("num_downsamples is {}; expected at least {}", n_downsamples, kMinDownsamples));
  config.channels = tower_channels(file, config.width, n_downsamples);
  read_attention(file, config);
  read_lengths(file, n_downsamples, config);
  config.heads = read_track_heads(file, {{"human", 5313}, {"mouse", 1643}});
  for (TrackHead& head : config.heads) head.bins = config.grid();
  read_gamma(file, config);
  return config;
}

void require_gpu_shape(const ModelConfig& file, const Config& config) {
  if (config.d_key > 64)
    file.fail(
        fmt::format("attn_dim_key is {}; GPUs take up to 64; use --device cpu", config.d_key));
}

}  // namespace biogpu::models::enformer
