#pragma once

#include <cstdint>
#include <vector>

#include "lib/align/border.hpp"
#include "lib/align/cpu/pair_scores.hpp"
#include "lib/align/cpu/scratch.hpp"
#include "lib/align/traceback.hpp"

namespace biogpu::align {

// Anti-diagonal d holds the cells of a residues of the query and d - a of the target consumed:
// row a - 1, column d - a - 1; a = 0 and a = d are the border.
struct AntidiagonalWindow {
  std::int64_t low = 0, high = -1;  // of a
  bool empty() const { return low > high; }
};

// Bits of the cells computed, by anti-diagonal.
struct BandedTrace {
  struct Line {
    std::int64_t first = 0;  // a of the first bit
    std::int64_t at = 0;     // of its byte
  };
  std::vector<Line> lines;
  std::vector<std::uint8_t> planes;  // [line][vector][4 planes][plane_bytes]
  std::int64_t lanes = 1, plane_bytes = 1;

  TraceCell cell(std::int64_t i, std::int64_t j) const {
    const Line& line = lines[static_cast<std::size_t>(i + j + 2)];
    const std::int64_t at = i + 1 - line.first, lane = at % lanes;
    const std::uint8_t* byte = planes.data() + line.at + at / lanes * 4 * plane_bytes + lane / 8;
    const int bit = static_cast<int>(lane % 8);
    return {(byte[0] >> bit & 1) != 0, (byte[plane_bytes] >> bit & 1) != 0,
            (byte[2 * plane_bytes] >> bit & 1) != 0, (byte[3 * plane_bytes] >> bit & 1) != 0};
  }
};

struct BandedJob {
  const Options* options = nullptr;
  const PairScores* scores = nullptr;
  bool small_table = false;
  std::span<const std::uint8_t> query, target;
  Scratch* scratch = nullptr;
};

struct BandedResult {
  EndPicker::End end{0, 0, 0};
  BandedTrace trace;  // where a path is wanted
};

void align_banded(const BandedJob& job, BandedResult& result);

}  // namespace biogpu::align
