#include "lib/models/alphagenome/config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::models::alphagenome {
namespace {

constexpr std::int64_t kMaxWidth = std::int64_t{1} << 14;
constexpr std::int64_t kMaxTracks = std::int64_t{1} << 16;

const std::vector<std::pair<std::string, std::int64_t>> kPublishedHeads{
    {"atac", 256},    {"dnase", 384},    {"procap", 128},       {"cage", 640},
    {"rna_seq", 768}, {"chip_tf", 1664}, {"chip_histone", 1152}};

constexpr const char* kNameLetters = "abcdefghijklmnopqrstuvwxyz0123456789_";

std::size_t published_place(const std::string& name) {
  const auto found = std::find_if(kPublishedHeads.begin(), kPublishedHeads.end(),
                                  [&](const auto& head) { return head.first == name; });
  return static_cast<std::size_t>(found - kPublishedHeads.begin());
}

// Names that config.json has, or those of the published model.
void read_organisms(const ModelConfig& file, Config& config) {
  const auto n = static_cast<std::size_t>(config.stored_organisms());
  if (file.has("organisms"))
    config.organisms = file.texts("organisms");
  else
    config.organisms.resize(std::min(n, config.organisms.size()));
  if (config.organisms.size() > n)
    file.fail(fmt::format("organisms has {} names of {}", config.organisms.size(), n));
  for (const std::string& name : config.organisms)
    if (name.empty() || name.find_first_not_of(kNameLetters) != std::string::npos)
      file.fail(
          fmt::format("organisms has {}; expected names of a-z, 0-9 and _", biogpu::quoted(name)));
}

void require_even(const ModelConfig& file, const char* key, std::int64_t value) {
  if (value % 2 != 0) file.fail(fmt::format("{} is {}; expected an even number", key, value));
}

}  // namespace

Config read_config(const ModelConfig& file) {
  Config config;
  const auto count = [&](const char* key, std::int64_t& value, std::int64_t at_most) {
    value = file.count_or(key, value, at_most);
  };
  config.n_organisms = file.integer_or("num_organisms", config.n_organisms);
  if (config.n_organisms < 0 || config.n_organisms > 64)
    file.fail(fmt::format("num_organisms is {}; expected 0 to 64", config.n_organisms));
  read_organisms(file, config);
  count("num_channels", config.n_channels, kMaxWidth);
  count("channel_increment", config.channel_step, kMaxWidth);
  count("num_down_blocks", config.n_down_blocks, 10);
  count("num_transformer_blocks", config.n_tower_blocks, 256);
  count("num_heads", config.n_heads, 256);
  count("qk_head_dim", config.d_key, 1024);
  count("v_head_dim", config.d_value, 1024);
  count("pair_channels", config.pair_channels, kMaxWidth);
  count("pair_heads", config.n_pair_heads, 1024);
  count("pair_head_dim", config.pair_head_dim, 1024);
  count("position_features", config.n_position_features, 2 * kMaxPairPositions);
  const auto count_or_none = [&](const char* key, std::int64_t& value, std::int64_t at_most) {
    value = file.integer_or(key, value);
    if (value < 0 || value > at_most)
      file.fail(fmt::format("{} is {}; expected 0 to {}", key, value, at_most));
  };
  count_or_none("contact_tracks", config.contact_tracks, kMaxTracks);
  count_or_none("splice_usage_tracks", config.usage_tracks, kMaxTracks);
  count_or_none("splice_junction_tissues", config.junction_tissues, kMaxTracks / 2);
  count_or_none("splice_junction_channels", config.junction_channels, kMaxWidth);
  config.has_splice_sites = file.flag_or("splice_sites", true);
  if (config.junction_tissues > 0 && !config.has_splice_sites)
    file.fail(
        "splice_junction_tissues without splice_sites, by whose probabilities they are found");
  require_even(file, "qk_head_dim", config.d_key);
  require_even(file, "position_features", config.n_position_features);
  require_even(file, "splice_junction_channels", config.junction_channels);
  std::vector<std::pair<std::string, std::int64_t>> heads = kPublishedHeads;
  if (file.has("track_heads")) {
    heads = file.named_counts("track_heads", kMaxTracks);
    // The order of outputs is that of the published heads, then by name.
    std::stable_sort(heads.begin(), heads.end(), [](const auto& x, const auto& y) {
      return published_place(x.first) < published_place(y.first);
    });
  }
  // Heads of one resolution, and those whose values are stored as a power: by the published names
  // where config.json does not list them.
  const std::map<std::string, std::vector<std::string>> published{
      {"coarse_heads", {"chip_tf", "chip_histone"}},
      {"fine_heads", {}},
      {"squashed_heads", {"rna_seq"}}};
  std::map<std::string, std::vector<std::string>> lists;
  for (const auto& [key, names] : published)
    lists[key] = file.has(key.c_str()) ? file.texts(key.c_str()) : names;
  const auto listed = [&](const char* key, const std::string& name) {
    return std::find(lists[key].begin(), lists[key].end(), name) != lists[key].end();
  };
  for (const auto& [name, n_tracks] : heads) {
    if (name.empty() || name.find_first_not_of(kNameLetters) != std::string::npos)
      file.fail(fmt::format("track_heads has {}; expected names of a-z, 0-9 and _",
                            biogpu::quoted(name)));
    config.track_heads.push_back({name, n_tracks, !listed("coarse_heads", name),
                                  !listed("fine_heads", name), listed("squashed_heads", name)});
    if (!config.track_heads.back().is_fine && !config.track_heads.back().is_coarse)
      file.fail(fmt::format("{} is in both coarse_heads and fine_heads", biogpu::quoted(name)));
  }
  return config;
}

std::int64_t find_organism(const ModelConfig& file, const Config& config, const std::string& name) {
  const auto found = std::find(config.organisms.begin(), config.organisms.end(), name);
  if (found == config.organisms.end())
    throw Error(ErrorCode::usage, fmt::format("--organism {}: {} has {}", name, file.path(),
                                              fmt::join(config.organisms, ", ")));
  return found - config.organisms.begin();
}

std::vector<TrackHead> all_heads(const Config& config, std::int64_t n_bases,
                                 std::int64_t organism) {
  using ops::Activation;
  const BinGrid fine{1, 0, n_bases};
  const BinGrid coarse{config.coarse_bin(), 0, n_bases / config.coarse_bin()};
  const auto row = static_cast<std::size_t>(organism);
  const std::string table = row < config.organisms.size()
                                ? fmt::format("tracks_{}.tsv", config.organisms[row])
                                : std::string();
  std::vector<TrackHead> heads;
  for (const TrackHeadShape& shape : config.track_heads) {
    const auto add = [&](const char* resolution, const BinGrid& bins) {
      TrackHead head{shape.name + resolution, shape.n_tracks, bins};
      head.table = table;
      head.table_head = shape.name;
      heads.push_back(head);
    };
    BinGrid of_head = fine;
    if (shape.name == "dnase") of_head.reverse_shift = 1;
    if (shape.is_fine) add("/1", of_head);
    if (shape.is_coarse) add("/128", coarse);
  }
  const std::int64_t n = n_bases / config.pair_bin();
  const BinGrid pairs{config.pair_bin(), 0, n * n};
  if (config.contact_tracks > 0)
    heads.push_back({kContactMaps,
                     config.contact_tracks,
                     pairs,
                     Activation::none,
                     "pairs of bins",
                     table,
                     kContactMaps,
                     {n, n}});
  if (config.has_splice_sites)
    heads.push_back(
        {kSpliceSites, kSpliceClasses, fine, Activation::none, {}, table, kSpliceSites});
  if (config.usage_tracks > 0)
    heads.push_back(
        {kSpliceUsage, config.usage_tracks, fine, Activation::none, {}, table, kSpliceUsage});
  if (config.junction_tissues > 0) {
    TrackHead head{
        kJunctions, 2 * config.junction_tissues, fine, Activation::none, "splice sites", table,
        kJunctions};
    head.is_ragged = true;
    head.max_rows = std::min(kMaxSites, n_bases);
    head.strands_of_line = 2;
    heads.push_back(head);
  }
  return heads;
}

void require_gpu_shape(const ModelConfig& file, const Config& config) {
  constexpr std::int64_t kLargest = 192;
  for (const auto& [key, value] : {std::pair{"qk_head_dim", config.d_key},
                                   {"v_head_dim", config.d_value},
                                   {"pair_channels", config.pair_channels}})
    if (value > kLargest)
      file.fail(
          fmt::format("{} is {}; GPUs take up to {}; use --device cpu", key, value, kLargest));
}

}  // namespace biogpu::models::alphagenome
