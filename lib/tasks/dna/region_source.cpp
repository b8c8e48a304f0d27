#include "lib/tasks/dna/region_source.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/core/quote.hpp"
#include "lib/io/input/raw_file.hpp"

namespace biogpu::tasks {
namespace {

std::uint64_t count_intervals(const std::string& bed, const genome::IndexedFasta& genome) {
  io::require_file_for_shard(bed);
  genome::BedReader reader(bed, genome);
  std::uint64_t n = 0;
  while (reader.pass()) ++n;
  return n;
}

}  // namespace

RegionSource::RegionSource(const GenomeRegions& regions, const genome::IndexedFasta& genome,
                           const io::Shard& shard, io::BadRecords bad)
    : bed_path_(regions.bed), bad_(bad) {
  for (const std::string& region : regions.regions)
    given_.push_back(genome::parse_window(region, genome.contigs()));
  if (!shard.is_whole()) {
    const std::uint64_t n_lines = bed_path_.empty() ? 0 : count_intervals(bed_path_, genome);
    range_ = io::shard_range(shard, n_lines + given_.size());
  }
  if (!bed_path_.empty()) bed_.emplace(bed_path_, genome);
}

bool RegionSource::next(genome::Window& region) {
  while (bed_) {
    is_of_bed_ = bed_->pass();
    if (!is_of_bed_) {
      bed_.reset();
      first_given_ = next_;
    } else if (is_chosen(next_++)) {
      ++n_of_bed_;
      if (io::take_or_skip(bad_, n_skipped_, [&] { region = bed_->interval(); })) {
        place_ = fmt::format("{} ({})", bed_->place(), shortened(region.key));
        return true;
      }
    }
  }
  next_ = std::max(next_, range_.begin);
  if (!is_chosen(next_) || next_ - first_given_ >= given_.size()) return false;
  region = given_[static_cast<std::size_t>(next_++ - first_given_)];
  place_ = "--region " + shortened(region.key);
  return true;
}

}  // namespace biogpu::tasks
