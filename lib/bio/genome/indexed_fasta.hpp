#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lib/bio/genome/contig.hpp"
#include "lib/bio/genome/faidx_file.hpp"
#include "lib/bio/genome/letters.hpp"

namespace biogpu::genome {

// Random access to the sequences of a FASTA file, plain or compressed by bgzip, by the index that
// samtools faidx makes. Several threads may fetch() at the same time. That a sequence lies where
// the index says is looked at when its first letters are fetched: its name, and the ends of its
// first line and of its last.
//
// Errors: those of open_index(); Error{bad_input} for an index that does not fit, and characters
// that are no letters of DNA, with file, sequence and position.
class IndexedFasta {
 public:
  explicit IndexedFasta(const std::string& path, MissingIndex missing = MissingIndex::write);
  ~IndexedFasta();
  IndexedFasta(IndexedFasta&&) noexcept;
  IndexedFasta& operator=(IndexedFasta&&) noexcept;

  const std::string& path() const;
  std::span<const Contig> contigs() const;
  std::optional<std::size_t> find(std::string_view name) const;
  // "g.fa has no sequence 'x'; it has a, b, c, ...", and a name that differs by its prefix.
  std::string describe_missing(std::string_view name) const;
  // As find(); context, a file and a record, begins the Error{bad_input} of an unknown name.
  std::size_t require(std::string_view name, const std::string& context) const;

  // Fills codes with the letters of a contig from begin on (from 0); those before its first and
  // behind its last are kUnknownLetter.
  void fetch(std::size_t contig, std::int64_t begin, std::span<LetterCode> codes) const;
  // The n letters of a contig from begin on, as the file has them; all lie in it.
  std::string letters(std::size_t contig, std::int64_t begin, std::size_t n) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace biogpu::genome
