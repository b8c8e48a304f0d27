#pragma once

#include <string>

namespace biogpu::qc {

// What a report calls the reads of one file, or of two with the mates: the name without folder and
// suffixes, of mates as far as both have it, "s1" for s1_R1.fastq.gz and s1_R2.fastq.gz. in2 is
// empty for one file; in1 is empty or "-" for standard input.
std::string sample_name(const std::string& in1, const std::string& in2);

}  // namespace biogpu::qc
