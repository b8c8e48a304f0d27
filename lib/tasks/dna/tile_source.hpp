#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "lib/io/bad_records.hpp"
#include "lib/io/shard.hpp"
#include "lib/models/base/dna_model.hpp"
#include "lib/tasks/dna/window_source.hpp"

namespace biogpu::tasks {

// How windows cover a contig. Tile i has its bases [i * step, (i + 1) * step), of which the window
// that begins at i * step - lead predicts all bins; what it predicts beyond them is left out.
struct Tiling {
  std::int64_t window = 0;
  std::int64_t step = 0;
  std::int64_t lead = 0;
};

// overlap: predicted bases that neighbouring windows have in common, rounded up to an even number
// of the largest bins. Without it: none where predictions leave out the ends of a window, else half
// of them. grids: of the heads, at least one. Throws Error{usage} where grids are not of the same
// places, or the overlap leaves nothing.
Tiling make_tiling(std::int64_t window, std::span<const models::BinGrid> grids,
                   std::optional<std::int64_t> overlap);

// The tiles of regions of any length, region after region; a shard has its part of all tiles. A
// window is wanted for those bases of its tile that lie in the region and on the contig. Tiles
// without a letter A, C, G or T in the window are left out. Errors: those of genome::IndexedFasta
// and RegionSource.
std::unique_ptr<WindowSource> make_tile_source(const GenomeRegions& regions, const Tiling& tiling,
                                               const io::Shard& shard, io::BadRecords bad);

}  // namespace biogpu::tasks
