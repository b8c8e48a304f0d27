#pragma once

#include <cstdint>
#include <vector>

#include "lib/bio/genome/indexed_fasta.hpp"
#include "lib/bio/genome/window.hpp"
#include "lib/models/base/dna_model.hpp"
#include "lib/tasks/dna/compare.hpp"

namespace biogpu::tasks {

// Some neighbouring letters of a region, each of which is replaced by each other letter. The window
// is the same for all pieces of a region.
struct RegionPiece {
  genome::Window window;  // of the model's length
  std::int64_t begin = 0, end = 0;
};

// A substitution: a letter of the genome and what takes its place.
struct Mutation {
  std::int64_t position = 0;
  genome::LetterCode letter = 0;
};

// What compare_windows() takes for a piece, and of which substitutions its results are. Letters
// that are none of A, C, G, T stay as they are. The genome must outlive it.
struct PieceMutations {
  std::int64_t begin = 0;                   // of the piece
  std::vector<genome::LetterCode> letters;  // of the piece
  std::vector<Mutation> mutations;
  Comparison comparison;
};
PieceMutations make_mutations(const genome::IndexedFasta& genome, const RegionPiece& piece,
                              const std::vector<BinTarget>& targets);

}  // namespace biogpu::tasks
