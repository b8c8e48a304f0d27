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

// All records of a VariantReader with more INFO fields, by htslib: VCF, with a name that ends in
// ".vcf.gz" compressed by BGZF, with ".bcf" BCF, with "-" VCF on standard output. The file gets its
// name by commit() only. Errors: Error{usage} for a field that the input's header has already;
// Error{failed} as for OutputFile; ClosedPipe.
class AnnotatedVcfWriter {
 public:
  // Before the reader's first next(), whose header gets the fields.
  AnnotatedVcfWriter(const std::string& path, VariantReader& reader, std::vector<InfoField> fields);
  ~AnnotatedVcfWriter();
  AnnotatedVcfWriter(AnnotatedVcfWriter&&) noexcept;
  AnnotatedVcfWriter& operator=(AnnotatedVcfWriter&&) noexcept;

  // Each variant that was read with keep_source, once, in their order. values: of each field, NaN
  // where it is missing; an empty one leaves its field out. Tags and sequences that the input's
  // header does not define are written as they are; in BCF, which cannot hold them, they are an
  // Error{bad_input}.
  void write(const Variant& variant, std::span<const std::vector<float>> values);
  void finish();
  void commit();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace biogpu::genome
