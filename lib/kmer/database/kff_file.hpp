#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/io/output_file.hpp"
#include "lib/kmer/count/count_block.hpp"
#include "lib/kmer/database/header.hpp"

namespace biogpu::kmer {

// KFF, the k-mer file format, version 1: letters A 0, C 1, G 2, T 3, one k-mer a block of a section
// of raw sequences, counts of 8 bytes. Its definition: github.com/Kmer-File-Format/kff-reference.
class KffEncoder {
 public:
  explicit KffEncoder(const Header& header);

  std::string begin() const;
  void write(const CountBlock& block, io::OutputFile& out);
  void finish(io::OutputFile& out);

 private:
  void write_section(io::OutputFile& out);

  const Header& header_;
  CountBlock open_;                          // records of a section that is not full
  std::vector<std::uint64_t> raw_sections_;  // their offsets in the file
};

}  // namespace biogpu::kmer
