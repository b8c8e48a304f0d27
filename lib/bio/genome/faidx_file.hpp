#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/bio/genome/faidx_builder.hpp"

namespace biogpu::genome {

// The files of a FASTA file with an index: FASTA, FASTA.fai and, where it is compressed by bgzip,
// FASTA.gzi.
struct FaidxFiles {
  explicit FaidxFiles(const std::string& fasta);

  std::string fasta, fai, gzi;
  bool compressed = false;
  std::uint64_t fasta_bytes = 0;
  std::uint64_t mark_bytes = 0;  // of a byte order mark in front of the text
};

// What the index files say.
struct FaidxIndex {
  std::vector<FaiEntry> entries;  // in the order of FASTA.fai; of equal names the first
  std::vector<BgzfBlock> blocks;  // of a compressed file, the first included
};

enum class MissingIndex { write, refuse };

// Reads the index. Of files that are missing it is made of the FASTA file, and written next to it,
// each under its name only when all are whole. Where that fails, in a folder that only others may
// write, it is kept in memory alone. Every number is checked, against the file's size too where
// that is not compressed. Errors: Error{bad_input} with file and line for an index that does not
// fit and FASTA that cannot be indexed; Error{failed} for missing files that are refused, and files
// that cannot be read.
FaidxIndex open_index(const FaidxFiles& files, MissingIndex missing);

}  // namespace biogpu::genome
