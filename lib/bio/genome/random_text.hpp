#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/bio/genome/faidx_file.hpp"
#include "lib/io/input/raw_file.hpp"

namespace biogpu::genome {

// Bytes at any place of a text, plain or compressed by bgzip. read() may be called by several
// threads at the same time.
//
// Compressed text is found through FASTA.gzi, inflated by libdeflate and compared with both: what
// htslib 1.16 does where they disagree, or the file was cut short, is to abort the program.
class RandomText {
 public:
  // Throws Error{bad_input} where FASTA.gzi is malformed.
  explicit RandomText(const FaidxFiles& files);

  // Throws Error{bad_input} where there are fewer bytes, and where they are damaged.
  void read(std::uint64_t offset, char* to, std::size_t n) const;

 private:
  struct Block {
    std::uint64_t packed = 0;  // offsets of its first byte, in the file and in the text
    std::uint64_t text = 0;
  };
  void read_index(const FaidxFiles& files);
  std::string inflate(std::size_t i, struct PackedBuffer& buffer) const;
  [[noreturn]] void fail(const std::string& what) const;

  io::input::RawFile file_;
  bool compressed_;
  std::string gzi_;
  std::vector<Block> blocks_;
};

}  // namespace biogpu::genome
