#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/bio/genome/variant_reader.hpp"

namespace biogpu::genome {

// A field of INFO that an annotated file gets, of real numbers.
struct InfoField {
  std::string id;      // "SAD"
  std::string number;  // as VCF has it: "A" for one an ALT allele, "1", "." for any
  std::string description;
};

// The records of a VariantReader with more INFO fields, by htslib: VCF, with a name that ends in
// ".vcf.gz" compressed by BGZF, with ".bcf" BCF, with "-" VCF on standard output. The file gets its
// name by commit() only. Errors: Error{usage} for a field that the input's header has already;
// Error{failed} as for OutputFile; ClosedPipe.
class AnnotatedVcfWriter {
 public:
  AnnotatedVcfWriter(const std::string& path, const VariantReader& reader,
                     std::vector<InfoField> fields);
  ~AnnotatedVcfWriter();
  AnnotatedVcfWriter(AnnotatedVcfWriter&&) noexcept;
  AnnotatedVcfWriter& operator=(AnnotatedVcfWriter&&) noexcept;

  // A variant that was read with keep_source, once. values: of each field, NaN where it is missing;
  // an empty one leaves its field out. Throws Error{bad_input} for a record with tags that the
  // input's header does not define.
  void write(const Variant& variant, std::span<const std::vector<float>> values);
  void finish();
  void commit();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace biogpu::genome
