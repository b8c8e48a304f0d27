#pragma once

#include <htslib/sam.h>
#include <htslib/vcf.h>

#include <memory>

namespace biogpu::io {

// Owners of what htslib allocates.
struct HtsDelete {
  void operator()(htsFile* file) const { hts_close(file); }
  void operator()(sam_hdr_t* header) const { sam_hdr_destroy(header); }
  void operator()(bam1_t* alignment) const { bam_destroy1(alignment); }
  void operator()(bcf_hdr_t* header) const { bcf_hdr_destroy(header); }
  void operator()(bcf1_t* record) const { bcf_destroy(record); }
};
using HtsFile = std::unique_ptr<htsFile, HtsDelete>;
using SamHeader = std::unique_ptr<sam_hdr_t, HtsDelete>;
using BamRecord = std::unique_ptr<bam1_t, HtsDelete>;
using VcfHeader = std::unique_ptr<bcf_hdr_t, HtsDelete>;
using VcfRecord = std::unique_ptr<bcf1_t, HtsDelete>;

}  // namespace biogpu::io
