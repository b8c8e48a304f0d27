#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/io/char_buffer.hpp"

namespace biogpu::qc {

// Where the four lines of a record lie in the text of its chunk; ends of lines are left out.
struct RecordPlace {
  std::uint64_t begin = 0;        // of the name, '@' included, in the chunk's text
  std::uint32_t sequence_at = 0;  // the others relative to begin
  std::uint32_t strand_at = 0;
  std::uint32_t quality_at = 0;
  std::uint32_t name_length = 0;
  std::uint32_t length = 0;  // of sequence and quality
  std::uint32_t strand_length = 0;
};

// Consecutive records of one file. The text is followed by readable bytes, so that a vector load at
// any base is in bounds.
struct FastqChunk {
  static constexpr std::size_t kPadding = 128;

  io::CharBuffer text;
  std::vector<RecordPlace> records;

  std::string_view name(const RecordPlace& r) const {
    return {text.data() + r.begin, r.name_length};
  }
  std::string_view strand(const RecordPlace& r) const {
    return {text.data() + r.begin + r.strand_at, r.strand_length};
  }
  char* sequence(const RecordPlace& r) { return text.data() + r.begin + r.sequence_at; }
  char* quality(const RecordPlace& r) { return text.data() + r.begin + r.quality_at; }
};

}  // namespace biogpu::qc
