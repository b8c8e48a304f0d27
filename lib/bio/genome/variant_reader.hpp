#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/bio/genome/indexed_fasta.hpp"
#include "lib/bio/genome/variant.hpp"
#include "lib/io/bad_records.hpp"
#include "lib/io/sequence_reader.hpp"

struct bcf_hdr_t;

namespace biogpu::genome {

struct VariantReaderOptions {
  // Variants that cannot be put into the genome's sequence.
  io::BadRecords bad = io::BadRecords::refuse;
  std::vector<std::string> samples;  // whose genotypes are read, in this order
  // For annotated output: gives out all records, with Variant::source.
  bool keep_source = false;
  io::RecordRange records = {};  // that are given out; the rest is passed over
};

// Of the records read so far, without those that are passed over.
struct VariantCounts {
  std::uint64_t records = 0;
  std::uint64_t given_out = 0;       // to be scored
  std::uint64_t no_alternate = 0;    // records without an ALT that changes letters, not scored
  std::uint64_t symbolic = 0;        // ALT alleles skipped; records of nothing else are left out
  std::uint64_t unknown_contig = 0;  // records skipped
  std::uint64_t other_ref = 0;       // records skipped: REF is not what the genome has there
  std::uint64_t outside = 0;         // records skipped: POS or REF leave their sequence
  std::uint64_t no_genotypes = 0;    // records skipped: no GT, where samples are chosen
  // Heterozygous genotypes whose phase set (PS) is not that of the sample's one before them on the
  // contig; they are given out all the same.
  std::uint64_t other_phase_set = 0;

  std::uint64_t skipped() const {
    return symbolic + unknown_contig + other_ref + outside + no_genotypes;
  }
};

// The records of a VCF or BCF file, plain or compressed, or of standard input ("-"), in its order,
// by htslib. An empty file has none. REF is compared with the genome: N there agrees with any
// letter, another letter of ambiguity with those that it stands for and with N, and case does not
// count. Symbolic alleles that no chosen sample carries do not matter.
//
// Errors: Error{bad_input} with file, record and place for what is malformed or refused;
// Error{usage} for a sample that the file does not have; Error{failed} for a file that cannot be
// read.
class VariantReader {
 public:
  // The genome must outlive the reader.
  VariantReader(const std::string& path, const IndexedFasta& genome,
                VariantReaderOptions options = {});
  ~VariantReader();
  VariantReader(VariantReader&&) noexcept;
  VariantReader& operator=(VariantReader&&) noexcept;

  // Replaces the variant by the next. False at the end of the file.
  bool next(Variant& variant);

  const VariantCounts& counts() const;
  const std::string& label() const;
  const IndexedFasta& genome() const;
  const std::vector<std::string>& chosen_samples() const;
  // Before the first next(): adds a field to the header, "##INFO=<ID=...". Throws Error{usage}
  // where the header has it.
  void define_info(const std::string& id, const std::string& line);
  // A copy of the header, in which all contigs of the genome are defined.
  std::shared_ptr<bcf_hdr_t> copy_header() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// How many records a VCF or BCF file has; reads all of it. Errors: those of VariantReader for what
// is malformed.
std::uint64_t count_variant_records(const std::string& path);

}  // namespace biogpu::genome
