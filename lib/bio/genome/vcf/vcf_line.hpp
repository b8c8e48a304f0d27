#pragma once

#include <htslib/vcf.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace biogpu::genome {

// How much of a record's text has to be what htslib makes of it.
enum class VcfFields {
  used,  // the columns, POS, REF, ALT, and genotypes where the header has samples
  all,   // QUAL and numbers of INFO and FORMAT too: they are written again
};

// What is wrong with a line of VCF, or empty. htslib's parser takes the beginning of a text for a
// number ("1e+03" is 1, "7x" is 7) and makes numbers that do not fit into 32 bits missing: what it
// would read otherwise than it is written is found here, before. n_samples: of the file, also where
// the header's were dropped.
std::string find_vcf_fault(std::string_view line, const bcf_hdr_t* header, std::size_t n_samples,
                           VcfFields fields);

// "chr1:5", of a line, for errors.
std::string vcf_line_position(std::string_view line);

}  // namespace biogpu::genome
