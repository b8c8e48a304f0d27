#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/bio/genome/variant.hpp"
#include "lib/bio/genome/vcf/format_numbers.hpp"

struct bcf_hdr_t;

namespace biogpu::genome {

// Follows the phase sets (PS) of chosen samples through the records of a file.
class PhaseSets {
 public:
  // How many of a variant's heterozygous genotypes have another set than the sample's one before
  // them on the contig. columns: those of the samples in the header, as many as there are
  // genotypes.
  std::uint64_t count_changes(const bcf_hdr_t* header, bcf1_t& record, const Variant& variant,
                              std::span<const std::size_t> columns);

 private:
  struct Set {
    bool known = false;
    std::size_t contig = 0;
    std::int32_t number = 0;
  };

  std::vector<Set> last_;  // of each sample
  FormatNumbers numbers_;
};

}  // namespace biogpu::genome
