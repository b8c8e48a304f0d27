#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/qc/input/read_sample.hpp"

namespace biogpu::qc {

// A sequence and how often it was met in the reads sampled, in lexicographic order.
using SequenceCounts = std::vector<std::pair<std::string, std::uint64_t>>;

// The lengths at which over-represented sequences are looked for in reads of so many cycles. One
// may come twice, and then counts twice, as in fastp.
std::vector<int> overrepresented_lengths(int n_cycles);

// Sequences of those lengths that are frequent at the beginning of a file, less those contained in
// another that is not much rarer; sorted.
std::vector<std::string> overrepresented_candidates(const ReadSample& reads, int n_cycles);

// Counts candidates in reads, without overlaps of one length.
class OverrepresentedCounter {
 public:
  OverrepresentedCounter(std::vector<std::string> candidates, int n_cycles);

  // counts: [candidates], as the constructor got them.
  void count(std::string_view read, std::vector<std::uint64_t>& counts) const;

 private:
  struct Length {
    int length = 0;
    std::uint64_t drop = 0;            // weight of the letter that leaves a window
    std::vector<std::uint32_t> slots;  // open addressing by hash: index + 1, 0 free
  };
  std::vector<std::string> candidates_;
  std::vector<std::uint64_t> hashes_;
  std::vector<Length> lengths_;
};

// Whether a sequence that was met so often in one of `sampling` reads is reported.
bool is_overrepresented(const std::string& sequence, std::uint64_t count, int sampling);

}  // namespace biogpu::qc
