#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/bwt/bwa/bwa_fm.hpp"

namespace biogpu::bwt {

// A match of query[begin, end) that no longer match contains.
struct Smem {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  BwaFm::Rows rows;
};

// Finds the super-maximal exact matches of a query, in the order of `bwa fastmap`: by the position
// that they were found from, then by their begin. Keeps its buffers between queries; one for each
// thread.
//
// Source  Li: doi:10.1093/bioinformatics/bts280, algorithm 2
class SmemFinder {
 public:
  explicit SmemFinder(const BwaFm& index) : index_(index) {}

  // query: A 0, C 1, G 2, T 3; larger values match nothing. Appends to found.
  void find(std::span<const std::uint8_t> query, std::vector<Smem>& found);

 private:
  std::uint32_t find_around(std::span<const std::uint8_t> query, std::uint32_t at,
                            std::vector<Smem>& found);

  const BwaFm& index_;
  std::vector<Smem> longer_, current_;
};

}  // namespace biogpu::bwt
