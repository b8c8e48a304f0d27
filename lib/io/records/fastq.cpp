#include "lib/io/records/fastq.hpp"

#include <fmt/format.h>

#include <string>

namespace biogpu::io::input {
namespace {

std::string describe_fault(const FastqRecord& record) {
  switch (record.fault) {
    case FastqFault::none:
      break;
    case FastqFault::no_at:
      return fmt::format("{} begins the record; expected '@'", show_byte(*record.fault_at));
    case FastqFault::empty_name:
      return "the name is empty; expected a name right after '@'";
    case FastqFault::long_header:
      return kHeaderTooLong;
    case FastqFault::long_plus:
      return "the line that begins with '+' is longer than 16 MiB";
    case FastqFault::return_in_header:
      return kReturnInHeader;
    case FastqFault::bad_residue:
      return fmt::format("{} in the sequence; expected {}", show_byte(*record.fault_at),
                         kExpectedResidues);
    case FastqFault::no_more_lines:
      return "the file ends inside the record; it may be cut short";
    case FastqFault::no_plus:
      return fmt::format("{} begins the third line; expected '+' (records of four lines)",
                         show_byte(*record.fault_at));
    case FastqFault::bad_quality:
      return fmt::format("{} in the quality; expected symbols from '!' to '~'",
                         show_byte(*record.fault_at));
    case FastqFault::other_length:
      return fmt::format("quality has {} symbols, sequence has {}; the file may be cut short",
                         record.n_symbols, record.n_residues);
  }
  return {};
}

}  // namespace

bool FastqSource::next(SequenceBatch& batch) {
  if (!skip_blank_lines()) return false;
  ++record_;
  bool at_end = false;
  while (!parse(batch, at_end)) at_end = !text_.refill();
  return true;
}

// False at the end of the text.
bool FastqSource::skip_blank_lines() {
  while (text_.has_text()) {
    const char byte = *text_.begin();
    if (byte != '\n' && byte != '\r' && byte != ' ' && byte != '\t') return true;
    line_ += byte == '\n' ? 1 : 0;
    text_.skip_to(text_.begin() + 1);
  }
  return false;
}

// Parses a whole record, or nothing when the window ends inside it. With at_end no text follows the
// window, so that its end ends a line too.
bool FastqSource::parse(SequenceBatch& batch, bool at_end) {
  const char* const begin = text_.begin();
  FastqRecord found;
  const FastqParse parsed = parse_fastq_record(begin, text_.end(), at_end, found);
  if (parsed == FastqParse::cut) return false;
  if (parsed == FastqParse::malformed) refuse(begin, at_end);
  const char* const base = in_place_ != nullptr ? in_place_ : begin;
  const auto offset = [base](const char* at) { return static_cast<std::size_t>(at - base); };
  SequenceBatch::Record record;
  record.name = offset(found.header.name);
  record.name_len = static_cast<std::uint32_t>(found.header.name_len);
  record.comment = offset(found.header.comment);
  record.comment_len = static_cast<std::uint32_t>(found.header.comment_len);
  record.sequence = offset(found.sequence);
  record.sequence_len = found.n_residues;
  record.quality = offset(found.quality);
  record.has_quality = true;
  if (in_place_ != nullptr)
    batch.add_in_place(record);
  else
    batch.append_whole({begin, offset(found.quality) + found.n_symbols}, record);
  text_.skip_to(found.next);
  line_ += 4;
  return true;
}

// Parses once more, as a record that is handed on would not stay in registers.
void FastqSource::refuse(const char* begin, bool at_end) const {
  FastqRecord record;
  parse_fastq_record(begin, text_.end(), at_end, record);
  refuse_record(label_, record_, line_ + static_cast<std::uint64_t>(record.fault_line),
                describe_fault(record));
}

}  // namespace biogpu::io::input
