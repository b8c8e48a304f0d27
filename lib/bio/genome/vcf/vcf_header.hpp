#pragma once

#include <htslib/vcf.h>

#include <string>
#include <string_view>

namespace biogpu::genome {

// What errors about files of another format end with.
inline constexpr std::string_view kExpectedVcf =
    "expected VCF or BCF; the first line of VCF is ##fileformat=VCF and a version";

// Reads the header of an open VCF or BCF file, as bcf_hdr_read() does, but neither allocates what a
// damaged file claims nor looks for an index next to the file. Null where it is malformed. Throws
// Error{bad_input} for text that does not begin as VCF, and with label and line where a number
// (IDX) is too large for any header.
bcf_hdr_t* read_vcf_header(htsFile& file, bool is_text, const std::string& label);

}  // namespace biogpu::genome
