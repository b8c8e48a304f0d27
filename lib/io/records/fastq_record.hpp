#pragma once

#include <cstddef>
#include <cstring>

#include "lib/io/records/header_line.hpp"
#include "lib/io/records/scan.hpp"

namespace biogpu::io::input {

// What is wrong with a record of FASTQ.
enum class FastqFault {
  none,
  no_at,       // the record does not begin with '@'
  empty_name,  // the fields of HeaderLine say the same of the next two
  long_header,
  return_in_header,
  bad_residue,
  no_more_lines,  // the file ends behind the sequence
  long_plus,
  no_plus,  // the third line does not begin with '+'
  bad_quality,
  other_length,  // of quality than of sequence
};

// A record of four lines where it lies in a text.
struct FastqRecord {
  HeaderLine header;
  const char* sequence = nullptr;
  std::size_t n_residues = 0;
  const char* quality = nullptr;
  std::size_t n_symbols = 0;
  const char* next = nullptr;  // behind the record

  FastqFault fault = FastqFault::none;
  int fault_line = 0;  // 0 to 3
  const char* fault_at = nullptr;
};

// cut: the text ends inside the record, and more of the file follows.
enum class FastqParse { whole, cut, malformed };

namespace detail {
enum class LineEnd { found, cut, missing };

// Moves from the end of a line to the next one; missing: something else is there.
inline LineEnd skip_line_end(const char*& at, const char* end, bool at_end) {
  if (at == end) return at_end ? LineEnd::found : LineEnd::cut;
  if (*at == '\n') {
    ++at;
    return LineEnd::found;
  }
  if (*at != '\r') return LineEnd::missing;
  if (at + 1 == end) {
    if (!at_end) return LineEnd::cut;
    at = end;
    return LineEnd::found;
  }
  if (at[1] != '\n') return LineEnd::missing;
  at += 2;
  return LineEnd::found;
}

inline FastqParse set_fault(FastqRecord& record, FastqFault fault, int line, const char* at) {
  record.fault = fault;
  record.fault_line = line;
  record.fault_at = at;
  return FastqParse::malformed;
}

inline FastqFault header_fault(const HeaderLine& header) {
  if (header.name_len == 0) return FastqFault::empty_name;
  return header.has_return ? FastqFault::return_in_header : FastqFault::none;
}
}  // namespace detail

// The record at `begin`, a byte before `end`. at_end: the text's end is the file's, so that it ends
// a line too; nothing is cut then. Inline, so that the record's fields stay in registers.
[[gnu::always_inline]] inline FastqParse parse_fastq_record(const char* begin, const char* end,
                                                            bool at_end, FastqRecord& record) {
  if (*begin != '@') return detail::set_fault(record, FastqFault::no_at, 0, begin);
  record.header = parse_header_line(begin + 1, end);
  if (record.header.is_too_long())
    return detail::set_fault(record, FastqFault::long_header, 0, begin);
  const char* at = record.header.line_end;
  if (detail::skip_line_end(at, end, at_end) == detail::LineEnd::cut) return FastqParse::cut;
  if (const FastqFault fault = detail::header_fault(record.header); fault != FastqFault::none)
    return detail::set_fault(record, fault, 0, begin);

  record.sequence = at;
  record.n_residues = count_residues(at, static_cast<std::size_t>(end - at));
  at += record.n_residues;
  const detail::LineEnd after_sequence = detail::skip_line_end(at, end, at_end);
  if (after_sequence == detail::LineEnd::cut) return FastqParse::cut;
  if (after_sequence == detail::LineEnd::missing)
    return detail::set_fault(record, FastqFault::bad_residue, 1, at);
  if (at == end) {
    if (!at_end) return FastqParse::cut;
    return detail::set_fault(record, FastqFault::no_more_lines, 1, at);
  }
  if (*at != '+') return detail::set_fault(record, FastqFault::no_plus, 2, at);
  const void* const newline = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
  const char* const plus = at;
  at = newline == nullptr ? end : static_cast<const char*>(newline);
  if (static_cast<std::size_t>(at - plus) > kMaxHeaderBytes)
    return detail::set_fault(record, FastqFault::long_plus, 2, plus);
  if (detail::skip_line_end(at, end, at_end) == detail::LineEnd::cut) return FastqParse::cut;

  record.quality = at;
  record.n_symbols = count_qualities(at, static_cast<std::size_t>(end - at));
  at += record.n_symbols;
  const detail::LineEnd after_quality = detail::skip_line_end(at, end, at_end);
  if (after_quality == detail::LineEnd::cut) return FastqParse::cut;
  if (after_quality == detail::LineEnd::missing)
    return detail::set_fault(record, FastqFault::bad_quality, 3, at);
  if (record.n_symbols != record.n_residues)
    return detail::set_fault(record, FastqFault::other_length, 3, record.quality);
  record.next = at;
  return FastqParse::whole;
}

}  // namespace biogpu::io::input
