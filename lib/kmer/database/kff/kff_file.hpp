#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/io/output_file.hpp"
#include "lib/kmer/database/header.hpp"
#include "lib/kmer/key/count_block.hpp"

namespace biogpu::kmer {

// KFF, the k-mer file format, version 1: letters A 0, C 1, G 2, T 3, one k-mer a block of a section
// of raw sequences, the counts of a section in as few of 1, 2, 4 or 8 bytes as its largest takes.
// Its definition: github.com/Kmer-File-Format/kff-reference.
class KffEncoder {
 public:
  explicit KffEncoder(const Header& header);

  std::string begin() const;
  void write(const CountBlock& block, io::OutputFile& out);
  void finish(io::OutputFile& out);

 private:
  struct Section {
    char type;
    std::uint64_t offset;  // in the file
  };

  void write_variables(int count_bytes, io::OutputFile& out);
  void write_section(io::OutputFile& out);

  const Header& header_;
  CountBlock open_;  // records of a section that is not full
  std::vector<Section> sections_;
  int count_bytes_ = 0;  // of the sections behind the last variables
};

}  // namespace biogpu::kmer
