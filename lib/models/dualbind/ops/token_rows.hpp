#pragma once

#include <cstdint>

// A function of the host and of the device.
#ifndef BIOGPU_TOKEN_FUNCTION
#define BIOGPU_TOKEN_FUNCTION
#endif

namespace biogpu::models::dualbind {

// Where tokens of a complex are in tensors whose rows are the tokens of all ligands, then those of
// all pockets.
struct TokenRows {
  std::int64_t begin, end;              // tokens of the complex
  std::int64_t first_ligand, n_ligand;  // rows, and how many there are
  std::int64_t first_pocket;            // row

  BIOGPU_TOKEN_FUNCTION TokenRows(const std::int32_t* starts, const std::int32_t* ligand_starts,
                                  std::int64_t n_complexes, std::int64_t complex)
      : begin(starts[complex]),
        end(starts[complex + 1]),
        first_ligand(ligand_starts[complex]),
        n_ligand(ligand_starts[complex + 1] - ligand_starts[complex]),
        first_pocket(ligand_starts[n_complexes] + starts[complex] - ligand_starts[complex]) {}
  BIOGPU_TOKEN_FUNCTION std::int64_t n_pocket() const { return end - begin - n_ligand; }
  // Of token t of the complex, begin <= t < end.
  BIOGPU_TOKEN_FUNCTION std::int64_t row(std::int64_t t) const {
    return t - begin < n_ligand ? first_ligand + t - begin : first_pocket + t - begin - n_ligand;
  }
};

}  // namespace biogpu::models::dualbind
