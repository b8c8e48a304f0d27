#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/biogpu/align/input/record_span.hpp"
#include "lib/align/align.hpp"
#include "lib/align/scoring/class_encoder.hpp"

namespace biogpu::app {

// Sequences as residue classes, owned: what align::SequenceSet looks at.
struct EncodedSet {
  std::vector<std::uint8_t> residues;
  std::vector<std::uint64_t> begin;

  void assign(const RecordSpan& records, const align::ClassEncoder& encoder);
  void append(std::string_view text, const align::ClassEncoder& encoder);
  align::SequenceSet view() const { return {residues, begin}; }
};

// The queries of a unit: as given and, where both strands count, reverse complements after them:
// query i is sequence i, its reverse complement sequence n_queries() + i.
class EncodedQueries {
 public:
  void assign(const RecordSpan& records, const align::ClassEncoder& encoder, bool with_reverse);

  std::size_t n_queries() const { return n_queries_; }
  align::SequenceSet view() const { return set_.view(); }
  bool is_reverse(std::uint32_t sequence) const { return sequence >= n_queries_; }
  std::uint32_t query_of(std::uint32_t sequence) const {
    return is_reverse(sequence) ? sequence - static_cast<std::uint32_t>(n_queries_) : sequence;
  }
  // Text of the reverse complement of a query.
  std::string_view reverse_text(std::uint32_t query) const;

 private:
  EncodedSet set_;
  std::string reverse_;
  std::size_t n_queries_ = 0;
};

}  // namespace biogpu::app
