#include "lib/models/layers/track_config.hpp"

#include <fmt/format.h>

#include "lib/core/quote.hpp"

namespace biogpu::models {
namespace {

constexpr std::int64_t kMaxTracks = std::int64_t{1} << 20;

}  // namespace

BinRange crop_bins(const ModelConfig& file, const char* key, std::int64_t n_positions,
                   std::int64_t length) {
  if (length != -1 && (length < 1 || length > n_positions))
    file.fail(fmt::format("{} is {}; expected -1 or 1 to {}, the positions of sequence_length", key,
                          length, n_positions));
  BinRange bins;
  bins.first = length == -1 ? 0 : (n_positions - length + 1) / 2;
  bins.n = n_positions - 2 * bins.first;
  if (bins.n < 1)
    file.fail(fmt::format("{} is {}; nothing is left of {} positions", key, length, n_positions));
  return bins;
}

std::vector<TrackHead> read_track_heads(const ModelConfig& file, std::vector<TrackHead> otherwise) {
  if (!file.has("output_heads")) return otherwise;
  std::vector<TrackHead> heads;
  for (auto& [name, n_tracks] : file.named_counts("output_heads", kMaxTracks)) {
    if (name.empty() || name.find_first_of("/,. \t\n") != std::string::npos)
      file.fail(
          fmt::format("output_heads has the name {}; expected one without spaces, '/', ',' and '.'",
                      biogpu::quoted(name)));
    heads.push_back({name, n_tracks});
  }
  if (heads.empty()) file.fail("output_heads is empty");
  return heads;
}

}  // namespace biogpu::models
