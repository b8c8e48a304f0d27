#pragma once

#include <htslib/vcf.h>

#include <string>

#include "lib/bio/genome/vcf/vcf_line.hpp"
#include "lib/io/hts_handles.hpp"
#include "lib/io/input/raw_file.hpp"

namespace biogpu::genome {

using io::VcfHeader;
using io::VcfRecord;

// Records of VCF and BCF as htslib has them; those of VCF only where htslib reads what the text
// says. A byte order mark and blank lines are passed over. Errors as in VariantReader.
class VcfInput {
 public:
  VcfInput(const std::string& path, VcfFields fields);

  bcf_hdr_t* header() { return header_.get(); }
  const bcf_hdr_t* header() const { return header_.get(); }
  const std::string& label() const { return raw_.label(); }

  // Reads the next record; false at the end. number: of the record, for errors.
  bool read(bcf1_t& record, std::uint64_t number);

 private:
  void open();
  void require_format(const std::string& head) const;
  int read_text(bcf1_t& record, std::uint64_t number);
  void throw_if_unreadable() const;
  void throw_read_error(int error) const;
  [[noreturn]] void fail_cut_short() const;
  bool is_bgzf() const;

  const VcfFields fields_;
  io::input::RawFile raw_;
  hFILE* stream_ = nullptr;  // owned by file_
  io::HtsFile file_;
  VcfHeader header_;
  bool is_text_ = false;
  std::size_t n_samples_ = 0;  // of the file
};

}  // namespace biogpu::genome
