#include "lib/io/records/record_boundary.hpp"

namespace biogpu::io::input {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;

bool find_fasta(std::string_view text, std::size_t& from) {
  for (;; ++from) {
    from = text.find('>', from);
    if (from == kNowhere) {
      from = text.size();
      return false;
    }
    if (text[from - 1] == '\n') return true;
  }
}

// Where the line after the one of `at` begins; npos where the text ends before a byte of it.
std::size_t next_line(std::string_view text, std::size_t at) {
  const std::size_t newline = text.find('\n', at);
  return newline == kNowhere || newline + 1 == text.size() ? kNowhere : newline + 1;
}

bool find_fastq(std::string_view text, std::size_t& from) {
  std::size_t line = from - 1;  // a line begins at from where this is a line feed
  for (;;) {
    line = next_line(text, line);
    if (line == kNowhere) return false;
    if (text[line] == '@') {
      const std::size_t sequence = next_line(text, line);
      const std::size_t plus = sequence == kNowhere ? kNowhere : next_line(text, sequence);
      from = line;
      if (plus == kNowhere) return false;
      if (text[plus] == '+') return true;
    }
    from = line + 1;
  }
}

}  // namespace

bool find_record(std::string_view text, RecordFormat format, std::size_t& from) {
  return format == RecordFormat::fasta ? find_fasta(text, from) : find_fastq(text, from);
}

}  // namespace biogpu::io::input
