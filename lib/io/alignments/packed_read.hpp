#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/io/sequence_batch.hpp"

namespace biogpu::io::input {

// A read as BAM lays it out. Format: SAM/BAM specification, section 4.2.
struct PackedRead {
  std::string_view name;
  std::size_t n_residues = 0;
  const std::uint8_t* residues = nullptr;  // two a byte, the first in the high half
  const std::uint8_t* phred = nullptr;     // offset removed; 0xff first: no quality
  std::uint16_t flag = 0;

  // Secondary and supplementary alignments repeat a read that has a primary one.
  bool is_primary() const { return (flag & 0x900) == 0; }
};

// Appends reads as the sequencer gave them; keeps its buffers between calls.
class PackedReadAppender {
 public:
  void append(SequenceBatch& batch, const PackedRead& read);

 private:
  std::string sequence_;
  std::string quality_;
};

}  // namespace biogpu::io::input
