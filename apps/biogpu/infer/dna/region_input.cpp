#include "apps/biogpu/infer/dna/region_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::app {
namespace {

constexpr std::int64_t kPiece = 64;  // letters: 192 windows and one for their reference

}  // namespace

RegionInput::RegionInput(const tasks::GenomeRegions& regions, const io::Shard& shard,
                         io::BadRecords bad)
    : ModelInput({"pieces", "substitutions", true}),
      bed_(regions.bed),
      genome_(regions.genome),
      bad_(bad) {
  tasks::RegionSource source(regions, genome_, shard, bad);
  for (genome::Window region; source.next(region); regions_.push_back(region)) {
    n_first_ += source.is_of_bed() ? 1 : 0;
    places_.push_back(source.place());
  }
  n_of_bed_ = source.n_of_bed();
  n_skipped_ = source.n_skipped();
}

void RegionInput::set_windows(std::int64_t length) {
  std::vector<genome::Window> fitting;
  std::vector<std::string> places;
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    const genome::Window& region = regions_[i];
    const auto require_length = [&] {
      if (region.size() > length)
        throw Error(ErrorCode::bad_input,
                    fmt::format("{}: {} letters; a window of the model has {}", places_[i],
                                region.size(), length));
    };
    const io::BadRecords bad = i < n_first_ ? bad_ : io::BadRecords::refuse;
    if (!io::take_or_skip(bad, n_skipped_, require_length)) continue;
    const genome::Window window = genome::resize_centre(region, length);
    for (std::int64_t at = region.begin; at < region.end; at += kPiece)
      pieces_.push_back({fitting.size(), {window, at, std::min(at + kPiece, region.end)}});
    fitting.push_back(region);
    places.push_back(std::move(places_[i]));
  }
  regions_ = std::move(fitting);
  places_ = std::move(places);
}

bool RegionInput::read(std::size_t slot) {
  next_ += static_cast<std::size_t>(skip(pieces_.size() - next_));
  if (next_ == pieces_.size()) return false;
  slots_[slot] = pieces_[next_++];
  return true;
}

std::vector<report::InputFile> RegionInput::files() const {
  std::vector<report::InputFile> files;
  for (const auto& [path, n] :
       {std::pair(genome_.path(), std::uint64_t{0}), std::pair(bed_, n_of_bed_)}) {
    if (path.empty()) continue;
    std::error_code error;
    const auto bytes = std::filesystem::file_size(path, error);
    files.push_back({path, error ? 0 : bytes, n});
  }
  return files;
}

}  // namespace biogpu::app
