#include "lib/models/alphagenome/batch.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "lib/core/error.hpp"
#include "lib/models/layers/window_rows.hpp"
#include "lib/tensor/shortened_starts.hpp"

namespace biogpu::models::alphagenome {

using tensor::DType;

std::vector<float> position_features(std::int64_t n, std::int64_t n_features) {
  const std::int64_t n_widths = n_features / 2;
  std::vector<float> features(static_cast<std::size_t>(2 * n * n_features));
  const auto base = static_cast<double>(kMaxPairPositions - n_widths + 1);
  for (std::int64_t j = 0; j < n_widths; ++j) {
    const double width = static_cast<double>(j) +
                         std::pow(base, static_cast<double>(j) / static_cast<double>(n_widths));
    for (std::int64_t row = 0; row < 2 * n; ++row) {
      const std::int64_t distance = row - n;
      if (width <= static_cast<double>(std::abs(distance))) continue;
      float* const to = features.data() + row * n_features + j;
      to[0] = 1;
      to[n_widths] = distance > 0 ? 1.0f : distance < 0 ? -1.0f : 0.0f;
    }
  }
  return features;
}

UnetRows make_unet_rows(Pass& pass, const Config& config, std::span<const std::uint8_t> letters,
                        std::int64_t n_bases) {
  UnetRows rows;
  rows.letters = pass.upload(DType::u8, {std::ssize(letters)}, letters.data());
  std::vector<std::int32_t> starts = window_starts(std::ssize(letters) / n_bases, n_bases);
  for (std::int64_t level = 0; level <= config.n_down_blocks + 1; ++level) {
    rows.levels.push_back(pass.segments(starts));
    starts = tensor::shortened_starts(starts, 2);
  }
  return rows;
}

Batch make_batch(Pass& pass, const Config& config, std::int64_t n_windows, std::int64_t n_bases) {
  if (n_bases <= 0 || n_bases % config.pair_bin() != 0 ||
      n_bases > kMaxPositions * config.coarse_bin())
    throw Error(ErrorCode::failed,
                fmt::format("a window of {} bases; expected a multiple of {}, up to {}", n_bases,
                            config.pair_bin(), kMaxPositions * config.coarse_bin()));
  Batch batch;
  batch.n_windows = n_windows;
  batch.n_bases = n_bases;
  batch.n_positions = n_bases / config.coarse_bin();
  batch.n_pairs = batch.n_positions / kPairRows;
  batch.coarse = pass.segments(window_starts(n_windows, batch.n_positions));
  batch.pair_rows = pass.segments(window_starts(n_windows * batch.n_pairs, kPairRows));
  const std::vector<float> features = position_features(batch.n_pairs, config.n_position_features);
  batch.features =
      pass.upload(DType::f32, {2 * batch.n_pairs, config.n_position_features}, features.data());
  return batch;
}

}  // namespace biogpu::models::alphagenome
