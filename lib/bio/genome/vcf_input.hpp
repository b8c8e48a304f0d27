#pragma once

#include <htslib/vcf.h>

#include <memory>
#include <string>

#include "lib/io/input/raw_file.hpp"

namespace biogpu::genome {

struct CloseVcf {
  void operator()(htsFile* file) const { hts_close(file); }
  void operator()(bcf_hdr_t* header) const { bcf_hdr_destroy(header); }
  void operator()(bcf1_t* record) const { bcf_destroy(record); }
};
using VcfHeader = std::unique_ptr<bcf_hdr_t, CloseVcf>;
using VcfRecord = std::unique_ptr<bcf1_t, CloseVcf>;

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
  std::unique_ptr<htsFile, CloseVcf> file_;
  VcfHeader header_;
};

}  // namespace biogpu::genome
