#pragma once

#include "lib/core/aligned_buffer.hpp"

namespace biogpu::align {

// What one thread keeps between groups, so that a batch allocates nothing once warm.
struct Scratch {
  AlignedBuffer h, e;           // one matrix column, or the border row of a long pair
  AlignedBuffer query, target;  // residue codes, one vector per position
  AlignedBuffer profile;        // per lane: scores of every class against its query
  AlignedBuffer scores;         // scores of one column, or of one class, one vector each
  AlignedBuffer offsets;        // which vector of `scores` a row takes
  AlignedBuffer row_masks;      // which lanes end in a row
  AlignedBuffer border;         // H and F of the row above a tile
  AlignedBuffer trace;
};

}  // namespace biogpu::align
