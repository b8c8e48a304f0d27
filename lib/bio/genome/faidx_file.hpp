#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace biogpu::genome {

// The files of a FASTA file with an index: FASTA, FASTA.fai and, where it is compressed by bgzip,
// FASTA.gzi.
struct FaidxFiles {
  explicit FaidxFiles(const std::string& fasta);

  std::string fasta, fai, gzi;
  bool compressed = false;
  std::uint64_t fasta_bytes = 0;
};

// Writes the index files that are missing, by htslib, each under its name only when all are whole.
// Does nothing where none is. Errors: Error{bad_input} for FASTA that cannot be indexed,
// Error{failed} where an index cannot be written.
void write_missing_index(const FaidxFiles& files);

// Throws Error{failed} where an index file is missing.
void require_index(const FaidxFiles& files);

// Where the letters of a sequence lie: in lines of line_letters, each taking line_bytes.
struct FaiEntry {
  std::string name;
  std::uint64_t length = 0;  // letters
  std::uint64_t offset = 0;  // of the first, in the text
  std::uint64_t line_letters = 0, line_bytes = 0;

  std::uint64_t offset_of(std::uint64_t letter) const {
    return offset + letter / line_letters * line_bytes + letter % line_letters;
  }
};

// The sequences of FASTA.fai, in its order; of equal names the first. Every number is checked,
// against the file's size too where that is not compressed. Errors: Error{bad_input} with file and
// line.
std::vector<FaiEntry> read_fai(const FaidxFiles& files);

}  // namespace biogpu::genome
