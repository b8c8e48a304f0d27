#pragma once

#include <htslib/vcf.h>

#include <string>

namespace biogpu::genome {

// Reads the header of an open VCF or BCF file, as bcf_hdr_read() does, but neither allocates what a
// damaged file claims nor looks for an index next to the file. Null where it is malformed. Throws
// Error{bad_input} with label and line where a number (IDX) is too large for any header.
bcf_hdr_t* read_vcf_header(htsFile& file, const std::string& label);

}  // namespace biogpu::genome
