#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/qc/prepare/read_sample.hpp"
#include "lib/qc/run/summary.hpp"

namespace biogpu::qc {

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

}  // namespace biogpu::qc
