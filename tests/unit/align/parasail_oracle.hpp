#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/align/align.hpp"

namespace biogpu::align::test {

// What Parasail says of one pair, with the defects listed below undone.
struct OracleAlignment {
  std::int32_t score = 0;
  std::int32_t query_end = 0;
  std::int32_t target_end = 0;
  std::int32_t matches = 0;
  std::int32_t similar = 0;
  std::int32_t length = 0;
  std::vector<std::uint32_t> cigar;
};

// Aligns with Parasail's 32-bit scalar functions ("nw_trace", "sg_qx_trace", ...), which share
// their tie rule with the vector ones, and their companions for statistics. Undone: the leading gap
// run that a local CIGAR gets when the path starts at residue 0, and the end positions of a local
// alignment of score 0. dna: the matrix is that of dna_scoring(match, mismatch); else BLOSUM62.
class Oracle {
 public:
  Oracle(const Options& options, bool dna, int match, int mismatch);
  ~Oracle();
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  OracleAlignment align(const std::string& query, const std::string& target) const;

  // Score of a global alignment in a band.
  std::int32_t banded_score(const std::string& query, const std::string& target, int band) const;

 private:
  struct Impl;
  Impl* impl_;
};

// Parasail's name of the mode: "nw", "sw", "sg", "sg_qx", "sg_qb_de" ...
std::string parasail_mode(const Options& options);

}  // namespace biogpu::align::test
