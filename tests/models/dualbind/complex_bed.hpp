#pragma once

#include <cstdint>
#include <vector>

#include "lib/models/dualbind/ops/declare.hpp"
#include "tests/ops/op_bed.hpp"

namespace biogpu::test {

// Tokens of complexes for tests of DualBind's operations: sizes around the width of a wave, a
// complex without a pocket, one without a ligand, and one without any token.
struct Complexes {
  std::vector<std::int32_t> starts{0}, ligand_starts{0}, complexes;
  std::int64_t n_tokens = 0, n_ligands = 0, n_complexes = 0;
  Complexes() {
    const std::vector<std::vector<std::int32_t>> sizes{{3, 40}, {1, 0},    {0, 5},
                                                       {0, 0},  {33, 129}, {70, 31}};
    for (const auto& size : sizes) {
      for (std::int32_t t = 0; t < size[0] + size[1]; ++t)
        complexes.push_back(static_cast<std::int32_t>(n_complexes));
      n_tokens += size[0] + size[1];
      n_ligands += size[0];
      ++n_complexes;
      starts.push_back(static_cast<std::int32_t>(n_tokens));
      ligand_starts.push_back(static_cast<std::int32_t>(n_ligands));
    }
  }
};

}  // namespace biogpu::test
