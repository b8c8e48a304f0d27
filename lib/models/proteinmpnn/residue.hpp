#pragma once

#include "lib/models/proteinmpnn/model.hpp"

namespace biogpu::models::proteinmpnn {

// Residues that one thread takes through dense layers at a time: whole tiles of every target.
inline constexpr std::int64_t kBlock = 12;

// Memory of one thread; every leaf of the parallel loops takes its own.
struct Scratch {
  explicit Scratch(std::int64_t k)
      : edge_a(static_cast<std::size_t>(k * kHidden)),
        edge_b(static_cast<std::size_t>(k * kHidden)),
        sums(static_cast<std::size_t>(kBlock * (kHidden + 1))),
        change(static_cast<std::size_t>(kBlock * kHidden)),
        inner(static_cast<std::size_t>(kBlock * 4 * kHidden)),
        rows(static_cast<std::size_t>(k)) {}

  cpu::Floats edge_a, edge_b;  // [k][kHidden]
  cpu::Floats sums;            // [kBlock][kHidden + 1] summed messages and their number
  cpu::Floats change;          // [kBlock][kHidden]
  cpu::Floats inner;           // [kBlock][4 * kHidden]
  std::vector<const float*> rows;
};

// h = LN(h + last(sums)), then h = LN(h + feed-forward(h)), for up to kBlock rows of h.
void update_residues(const cpu::Dense& last, const FeedForward& layer, cpu::Rows h,
                     std::int64_t n_rows, Scratch& scratch);

}  // namespace biogpu::models::proteinmpnn
