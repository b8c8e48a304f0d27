#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace biogpu::bench {

// Pairs of 150 bases as a sequencer gives them, the same for a seed: fragments of 50 to 450 bases
// of a genome of a million, adapters behind the short ones, 1 % of the bases wrong or N and of low
// quality, qualities that fall along some reads, 5 % of the fragments met before.
class PairMaker {
 public:
  explicit PairMaker(unsigned seed);

  struct Read {
    std::string sequence;
    std::string quality;
  };
  // The next pair.
  void next(Read& read1, Read& read2);

 private:
  void copy_fragment();
  void make_read(const std::string& fragment, const char* adapter, Read& read);

  std::mt19937 rng_;
  std::string genome_;
  std::string fragment_;
  std::string reversed_;
};

// Writes n pairs as FASTQ. Throws Error{failed} where a file cannot be written.
void write_pairs(std::uint64_t n, unsigned seed, const std::string& path1,
                 const std::string& path2);

}  // namespace biogpu::bench
