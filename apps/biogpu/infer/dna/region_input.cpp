#include "apps/biogpu/infer/dna/region_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "lib/bio/genome/bed.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::app {
namespace {

constexpr std::int64_t kPiece = 64;  // letters: 192 windows and one for their reference

}  // namespace

RegionInput::RegionInput(const tasks::GenomeRegions& regions)
    : ModelInput({"pieces", "substitutions", true}), bed_(regions.bed), genome_(regions.genome) {
  if (!bed_.empty()) {
    genome::BedReader bed(bed_, genome_);
    for (genome::Window region; bed.next(region);) regions_.push_back(region);
    n_of_bed_ = regions_.size();
  }
  for (const std::string& region : regions.regions)
    regions_.push_back(genome::parse_window(region, genome_.contigs()));
}

void RegionInput::set_windows(std::int64_t length) {
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    const genome::Window& region = regions_[i];
    if (region.size() > length)
      throw Error(ErrorCode::bad_input,
                  fmt::format("region {}: {} letters; a window of the model has {}",
                              shortened(region.key), region.size(), length));
    const genome::Window window = genome::resize_centre(region, length);
    for (std::int64_t at = region.begin; at < region.end; at += kPiece)
      pieces_.push_back({i, {window, at, std::min(at + kPiece, region.end)}});
  }
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
