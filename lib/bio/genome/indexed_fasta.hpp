#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lib/bio/genome/contig.hpp"
#include "lib/bio/genome/letters.hpp"

namespace biogpu::genome {

enum class MissingIndex { write, refuse };

// Random access to the sequences of a FASTA file, plain or compressed by bgzip, by the index that
// samtools faidx makes. Several threads may fetch() at the same time.
//
// Errors: Error{failed} for files that cannot be read or written, Error{bad_input} for FASTA that
// cannot be indexed, an index that does not fit, and characters that are no letters of DNA, with
// file, sequence and position.
class IndexedFasta {
 public:
  explicit IndexedFasta(const std::string& path, MissingIndex missing = MissingIndex::write);
  ~IndexedFasta();
  IndexedFasta(IndexedFasta&&) noexcept;
  IndexedFasta& operator=(IndexedFasta&&) noexcept;

  const std::string& path() const;
  std::span<const Contig> contigs() const;
  std::optional<std::size_t> find(std::string_view name) const;
  // The same; context, a file and a record, begins the Error{bad_input} of an unknown name.
  std::size_t require(std::string_view name, const std::string& context) const;

  // Fills codes with the letters of a contig from begin on (from 0); those before its first and
  // behind its last are kUnknownLetter.
  void fetch(std::size_t contig, std::int64_t begin, std::span<LetterCode> codes) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace biogpu::genome
