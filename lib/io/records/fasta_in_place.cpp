#include "lib/io/records/fasta_in_place.hpp"

#include "lib/io/records/header_line.hpp"
#include "lib/io/records/scan.hpp"

namespace biogpu::io::input {
namespace {

std::size_t bytes_between(const char* begin, const char* end) {
  return static_cast<std::size_t>(end - begin);
}

// The begin of the line after the one that ends at `at`; nullptr where it does not end there.
const char* line_after(const char* at, const char* end) {
  if (at < end && *at == '\r') ++at;
  return at < end && *at == '\n' ? at + 1 : nullptr;
}

// The header line at `at`: fills in name and comment. Returns the next line; nullptr where there is
// anything to say against it.
const char* parse_header(const char* at, const char* end, const char* base,
                         SequenceBatch::Record& record) {
  const HeaderLine header = parse_header_line(at + 1, end);
  if (header.name_len == 0 || header.line_end == end || header.has_return) return nullptr;
  record.name = bytes_between(base, header.name);
  record.name_len = static_cast<std::uint32_t>(header.name_len);
  record.comment = bytes_between(base, header.comment);
  record.comment_len = static_cast<std::uint32_t>(header.comment_len);
  return header.line_end + 1;
}

}  // namespace

bool add_fasta_in_place(std::string_view text, const char* base, std::uint64_t max_residues,
                        SequenceBatch& batch, std::uint64_t& n_lines) {
  const char* at = text.data();
  const char* const end = at + text.size();
  n_lines = 0;
  while (at < end) {
    SequenceBatch::Record record;
    if (*at != '>') return false;
    const char* const sequence = parse_header(at, end, base, record);
    if (sequence == nullptr) return false;
    record.sequence = record.quality = bytes_between(base, sequence);
    record.sequence_len = count_residues(sequence, bytes_between(sequence, end));
    if (record.sequence_len >= max_residues) return false;
    n_lines += record.sequence_len > 0 ? 2 : 1;
    at = record.sequence_len > 0 ? line_after(sequence + record.sequence_len, end) : sequence;
    if (at == nullptr) return false;
    batch.add_in_place(record);
  }
  return true;
}

}  // namespace biogpu::io::input
