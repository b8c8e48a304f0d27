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
// Compressed text is found through the blocks of FASTA.gzi, inflated by libdeflate and compared
// with both: what htslib 1.16 does where they disagree, or the file was cut short, is to abort the
// program.
class RandomText {
 public:
  // blocks: of a compressed file.
  RandomText(const FaidxFiles& files, std::vector<BgzfBlock> blocks);

  // Throws Error{bad_input} where there are fewer bytes, and where they are damaged.
  void read(std::uint64_t offset, char* to, std::size_t n) const;
  // The same, but fewer bytes at the end of the text; returns how many.
  std::size_t read_some(std::uint64_t offset, char* to, std::size_t n) const;

 private:
  std::string inflate(std::size_t i, struct PackedBuffer& buffer) const;
  [[noreturn]] void fail(const std::string& what) const;

  io::input::RawFile file_;
  bool compressed_;
  std::string gzi_;
  std::vector<BgzfBlock> blocks_;
};

}  // namespace biogpu::genome
