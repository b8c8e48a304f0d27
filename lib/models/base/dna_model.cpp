#include "lib/models/base/dna_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "lib/core/error.hpp"

namespace biogpu::models {

std::uint64_t DnaModel::room_for_kept() const {
  const std::uint64_t available = available_bytes() + kept_store_.bytes();
  const std::uint64_t one_window = pass_bytes(measure(1, {}));
  return std::min(available / 4, available - std::min(available, one_window));
}

const TrackHead* find_head(const std::vector<TrackHead>& heads, const std::string& name) {
  const auto found = std::find_if(heads.begin(), heads.end(),
                                  [&](const TrackHead& head) { return head.name == name; });
  return found == heads.end() ? nullptr : &*found;
}

const TrackHead& DnaModel::head(const HeadChoice& choice) const {
  const TrackHead* const head = find_head(info_.heads, choice.name);
  if (head == nullptr) throw std::out_of_range("no head " + choice.name);
  return *head;
}

std::size_t DnaModel::n_tracks(const HeadChoice& choice) const {
  if (!choice.other_strand.empty()) return choice.other_strand.size();
  return choice.tracks.empty() ? static_cast<std::size_t>(head(choice).n_tracks)
                               : choice.tracks.size();
}

std::vector<BinGrid> DnaModel::grids() const {
  std::vector<BinGrid> grids;
  for (const HeadChoice& choice : heads_) {
    const TrackHead& loaded = head(choice);
    if (!loaded.row_kind.empty())
      throw Error(ErrorCode::usage,
                  fmt::format("the head {} has rows of {}, not of bins; choose others with --head",
                              loaded.name, loaded.row_kind));
    if (std::find(grids.begin(), grids.end(), loaded.bins) == grids.end())
      grids.push_back(loaded.bins);
  }
  return grids;
}

void DnaModel::require_strands() const {
  // Pairs of bins are in the opposite order on the other strand, whatever they cover.
  std::vector<BinGrid> all;
  for (const HeadChoice& choice : heads_) {
    const TrackHead& loaded = head(choice);
    if (!loaded.row_kind.empty() && loaded.row_shape.empty())
      throw Error(
          ErrorCode::usage,
          fmt::format("--strands both: the head {} has other {} on the other strand; choose "
                      "others with --head",
                      loaded.name, loaded.row_kind));
    if (loaded.row_shape.empty()) all.push_back(loaded.bins);
  }
  for (const Embedding& embedding : info_.embeddings)
    if (embedding.row_shape.empty()) all.push_back(embedding.bins);
  for (const BinGrid& bins : all) {
    if (info_.window % bins.bin_size != 0)
      throw Error(
          ErrorCode::usage,
          fmt::format("--strands both: windows of {} bases are no whole bins of {}, so the bins "
                      "of the other strand are others; use --strands forward",
                      info_.window, bins.bin_size));
    if (2 * bins.first_base + bins.n_bases() != info_.window)
      throw Error(
          ErrorCode::usage,
          fmt::format("--strands both: the {} bins of {} bases are not in the middle of the "
                      "window, so those of the other strand are others; use --strands "
                      "forward",
                      bins.n_bins, bins.bin_size));
  }
}

bool DnaModel::is_near(std::span<const std::uint8_t> kept,
                       std::span<const std::uint8_t> changed) const {
  static_cast<void>(kept);
  static_cast<void>(changed);
  return false;
}

Outputs DnaModel::run_changed(std::span<const ChangedWindow> windows, const Request& request) {
  std::vector<std::uint8_t> letters;
  for (const ChangedWindow& window : windows)
    letters.insert(letters.end(), window.letters.begin(), window.letters.end());
  return run(letters, request);
}

KeptStore::Slot DnaModel::run_embeddings(std::span<const std::uint8_t> letters) {
  static_cast<void>(letters);
  throw std::logic_error("a model that keeps no embeddings");
}

Outputs DnaModel::run_kept(const KeptStore::Slot& window, const HeadRange& heads) {
  static_cast<void>(window);
  static_cast<void>(heads);
  throw std::logic_error("a model that keeps no embeddings");
}

void DnaModel::reserve_sites(std::size_t n_windows) { static_cast<void>(n_windows); }

SpliceSites DnaModel::select_sites(std::span<const float> probabilities) const {
  static_cast<void>(probabilities);
  return {};
}

Outputs DnaModel::run_junctions(const SiteWindow& window, const SpliceSites& sites,
                                const SiteRows& rows) {
  static_cast<void>(window);
  static_cast<void>(sites);
  static_cast<void>(rows);
  throw std::logic_error("a model without splice junctions");
}

}  // namespace biogpu::models
