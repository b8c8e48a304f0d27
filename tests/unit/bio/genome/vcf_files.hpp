#pragma once

#include <string>
#include <vector>

#include "tests/unit/io/files.hpp"

namespace biogpu::test {

// A VCF file with a header for these samples. lines: CHROM to ALT, or all columns, separated by
// tabs; what is missing up to INFO becomes '.'.
std::string vcf_text(const std::vector<std::string>& samples,
                     const std::vector<std::string>& lines);

// The path of a BCF file with a text's records, written by htslib.
std::string to_bcf(const TempFolder& folder, const std::string& vcf);

}  // namespace biogpu::test
