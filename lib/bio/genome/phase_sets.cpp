#include "lib/bio/genome/phase_sets.hpp"

#include <htslib/vcf.h>

#include <algorithm>

namespace biogpu::genome {
namespace {

bool is_heterozygous(const Genotype& genotype) {
  return std::any_of(genotype.alleles.begin(), genotype.alleles.end(),
                     [&](int allele) { return allele != genotype.alleles.front(); });
}

}  // namespace

std::uint64_t PhaseSets::count_changes(const bcf_hdr_t* header, bcf1_t& record,
                                       const Variant& variant,
                                       std::span<const std::size_t> columns) {
  const auto numbers = numbers_.read(header, record, "PS");
  if (!numbers || numbers->empty()) return 0;
  const std::size_t n_each = numbers->size() / static_cast<std::size_t>(bcf_hdr_nsamples(header));
  last_.resize(columns.size());
  std::uint64_t n_changes = 0;
  for (std::size_t s = 0; s < columns.size(); ++s) {
    const std::int32_t number = (*numbers)[columns[s] * n_each];
    const Genotype& genotype = variant.genotypes[s];
    if (number == bcf_int32_missing || !genotype.phased || !is_heterozygous(genotype)) continue;
    const Set& last = last_[s];
    if (last.known && last.contig == variant.contig && last.number != number) ++n_changes;
    last_[s] = {true, variant.contig, number};
  }
  return n_changes;
}

}  // namespace biogpu::genome
