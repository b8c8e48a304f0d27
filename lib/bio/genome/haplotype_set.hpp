#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/bio/genome/haplotype.hpp"
#include "lib/bio/genome/variant_reader.hpp"

namespace biogpu::genome {

// What happens to heterozygous genotypes without phase, and to missing alleles: an
// Error{bad_input}, or they are counted and taken for REF.
enum class UnphasedGenotypes { refuse, skip };

struct HaplotypeCounts {
  std::uint64_t applied = 0;   // ALT alleles on a haplotype
  std::uint64_t unphased = 0;  // genotypes of the counted records skipped
  std::uint64_t missing = 0;   // likewise
  // Alleles skipped: another one of an earlier record was applied there.
  std::uint64_t overlapping = 0;
};

// The haplotypes of the samples that a VariantReader was told to choose: all variants of a file in
// memory, each allele once, and of every haplotype which it carries. Where a sample has one allele,
// its first haplotype has it. Reading the file once serves windows in any order.
class HaplotypeSet {
 public:
  // Reads all of the reader's records. The genome that it compares with must outlive this.
  // counted: the records whose genotypes without phase or with missing alleles are counted.
  HaplotypeSet(VariantReader& reader, UnphasedGenotypes unphased, io::RecordRange counted = {});

  const std::vector<std::string>& samples() const { return samples_; }
  // The most alleles that a genotype of the sample has.
  std::size_t n_haplotypes(std::size_t sample) const { return n_haplotypes_[sample]; }
  const HaplotypeCounts& counts() const { return counts_; }

  // The letters of a window on a haplotype, the window's centre held in place: see
  // build_haplotype(). Several threads may call it at the same time.
  void build(const Window& window, std::size_t sample, std::size_t haplotype,
             std::span<LetterCode> codes) const;

  // The edits that build() needs.
  std::vector<Edit> edits_in(const Window& window, std::size_t sample, std::size_t haplotype) const;

 private:
  using EditIndex = std::uint32_t;
  struct ContigEdits {
    std::vector<Edit> edits;
    // Of every sample and haplotype, what it carries, in the order of the contig.
    std::vector<std::vector<std::vector<EditIndex>>> carried;
  };

  void add(const Variant& variant, UnphasedGenotypes policy, const std::string& label);
  void carry(ContigEdits& contig, std::size_t sample, std::size_t haplotype, EditIndex edit);
  void sort();

  const IndexedFasta& genome_;
  std::vector<std::string> samples_;
  std::vector<std::size_t> n_haplotypes_;
  std::vector<ContigEdits> contigs_;
  io::RecordRange counted_;
  HaplotypeCounts counts_;
};

}  // namespace biogpu::genome
