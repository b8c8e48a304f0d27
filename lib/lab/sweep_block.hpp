#pragma once

#include <set>
#include <vector>

#include "lib/lab/run_block.hpp"
#include "lib/tensor/tuning/tile_table.hpp"

namespace biogpu::lab {

// A product of a block with either tile: median seconds of the block, all other products by rule.
struct SweptProduct {
  tensor::TiledProduct product;
  int by_rule = 0, other = 0;  // columns of the tiles
  double rule_s = 0, other_s = 0;
  // Share of the time by which runs of one kind differ: half of them lie so close together.
  double noise = 0;
  // The other tile was faster by more than the noise and by kWorthwhile, twice: alone, and in a
  // second measurement together with the others that were.
  bool wins = false;

  double speedup() const { return rule_s / other_s; }
};

inline constexpr double kWorthwhile = 0.01;

// Measures each product of a block that has two tiles and is not in `known`, to which it is added:
// runs with either tile take turns. The table ends as it is by rule, that is empty. Throws
// Error{failed} where a tile gives other bytes, and what run_block() throws.
std::vector<SweptProduct> sweep_block(tensor::Context& context, const Block& block,
                                      const Extents& extents, const RunSettings& settings,
                                      tensor::TileTable& table,
                                      std::set<tensor::TiledProduct>& known);

}  // namespace biogpu::lab
