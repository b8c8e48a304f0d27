#pragma once

#include <htslib/vcf.h>

#include <string>

#include "lib/io/hts_handles.hpp"
#include "lib/io/input/raw_file.hpp"

namespace biogpu::genome {

using io::VcfHeader;
using io::VcfRecord;

// Records of VCF and BCF as htslib has them. Errors as in VariantReader.
class VcfInput {
 public:
  explicit VcfInput(const std::string& path);

  bcf_hdr_t* header() { return header_.get(); }
  const bcf_hdr_t* header() const { return header_.get(); }
  const std::string& label() const { return raw_.label(); }

  // Reads the next record; false at the end. number: of the record, for errors.
  bool read(bcf1_t& record, std::uint64_t number);

 private:
  void open();
  void throw_if_unreadable() const;
  [[noreturn]] void fail_cut_short() const;
  bool is_bgzf() const;

  io::input::RawFile raw_;
  hFILE* stream_ = nullptr;  // owned by file_
  io::HtsFile file_;
  VcfHeader header_;
};

}  // namespace biogpu::genome
