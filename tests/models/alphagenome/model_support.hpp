#pragma once

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/models/alphagenome/alphagenome.hpp"
#include "tests/models/dna_checks.hpp"

namespace biogpu::test {

inline const std::string kTinyAlphaGenome = "alphagenome_tiny";

struct LoadedAlphaGenome : LoadedDna<models::AlphaGenome> {
  explicit LoadedAlphaGenome(std::unique_ptr<tensor::Context> on,
                             models::AlphaGenome::Options options = {})
      : LoadedDna(std::move(on), model_data(kTinyAlphaGenome), std::move(options)) {}
};

inline models::AlphaGenome::Options alphagenome_options(
    std::int64_t organism,
    models::alphagenome::PairGelu gelu = models::alphagenome::PairGelu::tanh) {
  models::AlphaGenome::Options options;
  options.weights.organism = organism;
  options.n_bases = 1024;
  options.pair_gelu = gelu;
  return options;
}

// The name of the program's part in ours.
inline const std::vector<std::pair<std::string, std::string>> kAlphaGenomeParts{
    {"trunk", "trunk"},
    {"tower", "tower"},
    {"pair", "pair"},
    {"decoded", "decoded"},
    {"embedding/128", "embedding.128bp"},
    {"embedding/1", "embedding.1bp"},
    {"embedding/pair", "embedding.pair"},
    {"atac/1", "tracks.atac/1"},
    {"atac/128", "tracks.atac/128"},
    {"dnase/1", "tracks.dnase/1"},
    {"dnase/128", "tracks.dnase/128"},
    {"procap/1", "tracks.procap/1"},
    {"procap/128", "tracks.procap/128"},
    {"cage/1", "tracks.cage/1"},
    {"cage/128", "tracks.cage/128"},
    {"rna_seq/1", "tracks.rna_seq/1"},
    {"rna_seq/128", "tracks.rna_seq/128"},
    {"chip_tf/128", "tracks.chip_tf/128"},
    {"chip_histone/128", "tracks.chip_histone/128"},
    {"contact_maps", "tracks.contact_maps"},
    {"splice_sites", "tracks.splice_sites"},
    {"splice_site_usage", "tracks.splice_site_usage"}};

inline void check_alphagenome(LoadedAlphaGenome& loaded, const std::string& form, double bound) {
  const Vectors expected(kTinyAlphaGenome + "/expected.safetensors");
  const models::Outputs outputs = loaded.run(read_windows(kTinyAlphaGenome), {true, true, true});
  for (const auto& [part, name] : kAlphaGenomeParts) {
    const auto n_columns = static_cast<std::size_t>(outputs.at(name).shape[1]);
    for (const auto& [window, w] : {std::pair<std::string, std::size_t>{"one", 0}, {"two", 1}}) {
      const std::string key = window + "/" + form + "/" + part;
      if (!expected.has(key)) continue;
      INFO(key);
      check_part(name, of_window(outputs, name, w, 2), expected[key], n_columns, bound);
    }
  }
}

// Tracks of groups of so many heads, of embeddings that are kept, have the bytes of a whole pass.
inline void check_kept_heads(LoadedAlphaGenome& loaded, const std::vector<std::size_t>& sizes) {
  const Letters window = read_windows(kTinyAlphaGenome)[0];
  const models::Outputs whole = loaded.run({window});
  const std::size_t n_heads = loaded.model.heads().size();
  const models::KeptStore::Slot kept = loaded.model.run_embeddings(window);
  for (const std::size_t size : sizes) {
    std::set<std::string> names;
    for (std::size_t first = 0; first < n_heads; first += size) {
      const models::HeadRange heads{first, std::min(n_heads, first + size)};
      const models::Outputs part = loaded.model.run_kept(kept, heads);
      for (const models::Outputs::Array& array : part.arrays()) {
        INFO(array.name << " of " << size << " heads");
        const models::Outputs::Array& right = whole.at(array.name);
        CHECK(array.shape == right.shape);
        const bool is_same = array.values == right.values;
        CHECK(is_same);
        CHECK(names.insert(array.name).second);
      }
    }
    CHECK(names.size() == whole.arrays().size());
  }
}

// Sites, and counts of the first of them, of the window "one"; all counts.
inline std::vector<float> check_junctions(LoadedAlphaGenome& loaded, double bound) {
  constexpr std::size_t kSites = 512, kStored = 24, kTracks = 6;
  const Vectors expected(kTinyAlphaGenome + "/expected.safetensors");
  const models::Outputs outputs = loaded.run(read_windows(kTinyAlphaGenome));
  const auto& positions = outputs.at("positions.splice_junctions.0");
  CHECK(std::vector<float>(positions.values.begin(), positions.values.end()) ==
        expected["one/tanh/0/splice_junctions/positions"]);
  const auto& counts = outputs.at("tracks.splice_junctions.0");
  REQUIRE(counts.shape == std::vector<std::int64_t>{kSites, kSites, kTracks});
  const std::vector<float> block = expected["one/tanh/0/splice_junctions"];
  REQUIRE(block.size() == kStored * kStored * kTracks);
  const std::vector<float> all(counts.values.begin(), counts.values.end());
  std::vector<float> got;
  for (std::size_t i = 0; i < kStored; ++i) {
    const auto row = all.begin() + static_cast<std::ptrdiff_t>(i * kSites * kTracks);
    got.insert(got.end(), row, row + kStored * kTracks);
  }
  check_part("junctions", got, block, kTracks, bound);
  return all;
}

}  // namespace biogpu::test
