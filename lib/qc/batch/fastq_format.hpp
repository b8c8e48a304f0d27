#pragma once

#include <cstring>
#include <string_view>

#include "lib/io/char_buffer.hpp"
#include "lib/qc/steps/mate.hpp"

namespace biogpu::qc {

// The first and third line of a record as it is to be written: the name as edited, the separator as
// read.
struct FastqHeader {
  std::string_view name;
  std::string_view strand;
};

inline char* put(char* to, std::string_view text) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

// Appends a record; tag, where given, follows the name after a blank.
inline void append_fastq(io::CharBuffer& out, const FastqHeader& record, const Mate& mate,
                         std::string_view tag = {}) {
  const auto length = static_cast<std::size_t>(mate.length);
  const std::size_t begin = out.size();
  const std::size_t size = record.name.size() + (tag.empty() ? 0 : tag.size() + 1) +
                           record.strand.size() + 2 * length + 4;
  out.resize(begin + size);
  char* to = put(out.data() + begin, record.name);
  if (!tag.empty()) {
    *to++ = ' ';
    to = put(to, tag);
  }
  *to++ = '\n';
  to = put(to, {mate.sequence, length});
  *to++ = '\n';
  to = put(to, record.strand);
  *to++ = '\n';
  to = put(to, {mate.quality, length});
  *to = '\n';
}

}  // namespace biogpu::qc
