#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/bio/genome/gene_table.hpp"
#include "lib/bio/genome/haplotype_set.hpp"
#include "lib/bio/genome/indexed_fasta.hpp"
#include "lib/bio/genome/variant.hpp"
#include "lib/bio/genome/window.hpp"
#include "lib/models/base/dna_model.hpp"
#include "lib/tasks/dna/compare.hpp"

namespace biogpu::tasks {

// Bins that a score is of: all, or so many around the variant's.
struct BinChoice {
  std::string name;        // "all", "centre:3"
  std::int64_t width = 0;  // 0: all
};

// "all", "centre" (1 bin) or "centre:N". Throws Error{usage}.
BinChoice parse_bin_choice(const std::string& text);

// Around the bin that letter `position` of the window's contig lies in.
BinTarget make_target(const BinChoice& choice, const genome::Window& window, std::int64_t position);

// Throws Error{usage} where a shift moves a centre out of what a loaded head predicts of a window.
// grid: see VariantWindowOptions.
void require_centre(std::span<const BinChoice> choices, const models::DnaModel& model,
                    std::span<const std::int64_t> shifts, std::int64_t grid);

struct VariantWindowOptions {
  std::vector<BinChoice> bins;
  // Windows have their centres in the middle of a piece of so many bases, so that variants of one
  // piece share a window; 1: at the variant.
  std::int64_t grid = 1;
  // Bins besides: those of genes that every loaded head predicts a part of at one of `shifts`, as
  // "gene:NAME"; or null.
  const genome::GeneTable* genes = nullptr;
  std::vector<std::int64_t> shifts = {0};
  // Where given, alleles are compared on each haplotype that carries them: as it is, and without
  // the allele.
  const genome::HaplotypeSet* haplotypes = nullptr;
};

// The model's window for a variant.
genome::Window place_window(const genome::Variant& variant, std::int64_t grid, std::int64_t length);

// An ALT allele that is compared with REF.
struct ScoredAllele {
  std::size_t variant = 0;  // of the batch
  std::size_t alt = 0;
  std::string haplotype;             // "SAMPLE/1", or empty
  std::vector<std::string> targets;  // names of what is compared
};

// What compare_windows() takes for some variants, and of which alleles its results are. Variants
// one after the other in one window share a comparison. Genome, variants and options must outlive
// it.
struct VariantWindows {
  std::vector<Comparison> comparisons;
  std::vector<ScoredAllele> alleles;
};
VariantWindows make_variant_windows(const genome::IndexedFasta& genome,
                                    const models::DnaModel& model,
                                    std::span<const genome::Variant> variants,
                                    const VariantWindowOptions& options);

}  // namespace biogpu::tasks
