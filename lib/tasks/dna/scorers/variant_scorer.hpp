#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/bio/genome/genes/polya_table.hpp"
#include "lib/bio/genome/indexed_fasta.hpp"
#include "lib/bio/genome/variant.hpp"
#include "lib/bio/genome/window.hpp"
#include "lib/models/base/dna_model.hpp"
#include "lib/tasks/dna/scorers/score_lines.hpp"
#include "lib/tasks/dna/scorers/scorer.hpp"

namespace biogpu::tasks {

struct ScorerOptions {
  std::vector<Scorer> scorers;                    // whose heads the model has loaded
  const genome::GeneAnnotation* genes = nullptr;  // where a scorer needs it
  const genome::PolyaTable* polya = nullptr;      // the same
  // As VariantWindowOptions has it; with 1, windows are those of scored_window().
  std::int64_t grid = 1;
  std::uint8_t unknown = 4;  // the model's code of an unknown letter
  std::int64_t windows_per_pass = 1;
  // Of alleles as long as REF only what scorers read is computed and fetched, from what was kept of
  // the reference where it is near; false: all tracks of whole windows.
  bool reuse = true;
  std::uint64_t max_kept_bytes = std::uint64_t{2} << 30;  // as CompareOptions has it
};

// The window around a variant that DeepMind's client gives: its middle is behind the middle letter
// of REF, or behind the first half of them.
genome::Window scored_window(const genome::Variant& variant, std::int64_t grid,
                             std::int64_t length);

// What an ALT allele changes, in the order of scorers. Contact maps are not scored where the allele
// has another length than REF, and exons of a gene not where none is in the window.
struct AlleleScores {
  std::size_t variant = 0;  // of the batch
  std::size_t alt = 0;
  genome::Window window;
  std::vector<ScoreRow> rows;
};

// All ALT alleles of some variants. Variants one after the other in one window share a pass over
// its reference.
std::vector<AlleleScores> score_variants(models::DnaModel& model,
                                         const genome::IndexedFasta& genome,
                                         std::span<const genome::Variant> variants,
                                         const ScorerOptions& options);

}  // namespace biogpu::tasks
