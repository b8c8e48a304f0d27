#include "lib/tasks/dna/tile_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lib/bio/genome/indexed_fasta.hpp"
#include "lib/core/error.hpp"

namespace biogpu::tasks {
namespace {

std::int64_t round_up(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }

class TileSource final : public WindowSource {
 public:
  TileSource(const GenomeRegions& regions, const Tiling& tiling, const io::Shard& shard,
             io::BadRecords bad)
      : bed_(regions.bed), genome_(regions.genome), tiling_(tiling) {
    RegionSource source(regions, genome_, {}, bad);
    std::uint64_t n_tiles = 0;
    for (genome::Window region; source.next(region);) {
      const auto length = static_cast<std::int64_t>(contigs()[region.contig].length);
      region.begin = std::max<std::int64_t>(region.begin, 0);
      region.end = std::min(region.end, length);
      if (region.begin >= region.end) continue;
      regions_.push_back({region, source.place(), n_tiles});
      n_tiles += static_cast<std::uint64_t>(last_tile(region) - first_tile(region) + 1);
    }
    n_of_bed_ = source.n_of_bed();
    n_skipped_ = source.n_skipped();
    range_ = {0, n_tiles};
    if (!shard.is_whole()) range_ = io::shard_range(shard, n_tiles);
    next_ = range_.begin;
  }

  bool next(InputWindow& window) override {
    while (next_ < range_.end) {
      set_window(window, next_++);
      genome_.fetch(window.contig, window.begin, window.codes);
      if (std::any_of(window.codes.begin(), window.codes.end(),
                      [](genome::LetterCode code) { return code != genome::kUnknownLetter; }))
        return true;
    }
    return false;
  }
  std::span<const genome::Contig> contigs() const override { return genome_.contigs(); }
  std::vector<File> files() const override {
    std::vector<File> files{{genome_.path(), 0}};
    if (!bed_.empty()) files.push_back({bed_, n_of_bed_});
    return files;
  }
  std::uint64_t n_skipped() const override { return n_skipped_; }

 private:
  struct Region {
    genome::Window bases;
    std::string place;
    std::uint64_t first_tile = 0;  // of all
  };

  std::int64_t first_tile(const genome::Window& region) const {
    return region.begin / tiling_.step;
  }
  std::int64_t last_tile(const genome::Window& region) const {
    return (region.end - 1) / tiling_.step;
  }

  void set_window(InputWindow& window, std::uint64_t tile) const {
    const auto after = std::upper_bound(
        regions_.begin(), regions_.end(), tile,
        [](std::uint64_t number, const Region& region) { return number < region.first_tile; });
    const Region& region = *std::prev(after);
    const std::int64_t begin =
        (first_tile(region.bases) + static_cast<std::int64_t>(tile - region.first_tile)) *
        tiling_.step;
    window.codes.resize(static_cast<std::size_t>(tiling_.window));
    window.contig = region.bases.contig;
    window.begin = begin - tiling_.lead;
    window.wanted_begin = std::max(begin, region.bases.begin);
    window.wanted_end = std::min(begin + tiling_.step, region.bases.end);
    window.key = fmt::format("{}:{}-{}", contigs()[window.contig].name, window.wanted_begin + 1,
                             window.wanted_end);
    window.place = fmt::format("{}, {}", region.place, window.key);
  }

  const std::string bed_;
  genome::IndexedFasta genome_;
  const Tiling tiling_;
  std::vector<Region> regions_;
  io::RecordRange range_;  // of the tiles
  std::uint64_t next_ = 0;
  std::uint64_t n_of_bed_ = 0, n_skipped_ = 0;
};

}  // namespace

Tiling make_tiling(std::int64_t window, std::span<const models::BinGrid> grids,
                   std::optional<std::int64_t> overlap) {
  const models::BinGrid& first = grids.front();
  std::int64_t unit = first.bin_size;
  for (const models::BinGrid& grid : grids) {
    if (grid.first_base != first.first_base || grid.n_bases() != first.n_bases())
      throw Error(ErrorCode::usage, "--tile: heads that predict other parts of a window");
    unit = std::max(unit, grid.bin_size);
  }
  for (const models::BinGrid& grid : grids)
    if (unit % grid.bin_size != 0)
      throw Error(ErrorCode::usage,
                  fmt::format("--tile: bins of {} bases and of {} do not fit together", unit,
                              grid.bin_size));
  const bool has_margins = first.first_base > 0;
  const std::int64_t common = overlap.value_or(has_margins ? 0 : first.n_bases() / 2);
  const std::int64_t half =
      common >= first.n_bases() ? first.n_bases() : round_up((common + 1) / 2, unit);
  const std::int64_t step = (first.n_bases() - 2 * half) / unit * unit;
  if (step <= 0)
    throw Error(
        ErrorCode::usage,
        fmt::format("--overlap: {} bases of the {} that a window predicts leave no bin of {}",
                    common, first.n_bases(), unit));
  return {window, step, first.first_base + half};
}

std::unique_ptr<WindowSource> make_tile_source(const GenomeRegions& regions, const Tiling& tiling,
                                               const io::Shard& shard, io::BadRecords bad) {
  return std::make_unique<TileSource>(regions, tiling, shard, bad);
}

}  // namespace biogpu::tasks
