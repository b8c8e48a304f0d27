#include "lib/bio/genome/line_lengths.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <unordered_set>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/text_reader.hpp"

namespace biogpu::genome {
namespace {

constexpr std::size_t kMaxNameBytes = 1u << 16;

// Takes the lines of a FASTA file in parts, as a line may be a whole chromosome.
class LineLengthCheck {
 public:
  explicit LineLengthCheck(const std::string& path) : path_(path) {}

  void add_part(std::string_view part) {
    if (length_ == 0 && !part.empty()) in_header_ = part.front() == '>';
    if (in_header_ && name_.size() < kMaxNameBytes) name_ += part;
    length_ += part.size();
    if (!part.empty()) ends_in_return_ = part.back() == '\r';
  }

  void end_line() {
    const std::uint64_t n_letters = length_ - (ends_in_return_ ? 1 : 0);
    if (in_header_) {
      begin_record();
    } else {
      check_length(n_letters);
    }
    ++line_;
    length_ = 0;
    ends_in_return_ = in_header_ = false;
  }

  bool has_open_line() const { return length_ > 0; }

 private:
  void begin_record() {
    ++record_;
    first_ = 0;
    short_line_ = false;
    const std::size_t end = std::min(name_.find_first_of(" \t\r", 1), name_.size());
    name_ = name_.substr(1, end - 1);
    current_.swap(name_);
    name_.clear();
    if (current_.empty()) fail("has no name");
    if (!names_.insert(current_).second) fail("has the name of an earlier record");
  }

  void check_length(std::uint64_t n_letters) {
    if (n_letters == 0) {
      short_line_ = true;
      return;
    }
    if (short_line_)
      fail(
          fmt::format("follows a line that is shorter than the first, of {}; expected lines of "
                      "one length",
                      first_));
    if (first_ == 0) first_ = n_letters;
    if (n_letters > first_)
      fail(fmt::format("{} letters, the first line has {}; expected lines of one length", n_letters,
                       first_));
    short_line_ = n_letters < first_;
  }

  [[noreturn]] void fail(const std::string& what) const {
    const std::string name = current_.empty() ? "" : quoted(current_) + ", ";
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: record {} ({}line {}): {}", path_, record_, name, line_, what));
  }

  const std::string path_;
  std::unordered_set<std::string> names_;
  std::string name_;     // of the header that is being read
  std::string current_;  // of the record
  std::uint64_t record_ = 0, line_ = 1;
  std::uint64_t length_ = 0;  // of the line so far
  std::uint64_t first_ = 0;   // letters of the record's first line
  bool in_header_ = false, ends_in_return_ = false, short_line_ = false;
};

}  // namespace

void require_equal_lines(const std::string& path) {
  io::TextReader text(path);
  LineLengthCheck check(path);
  for (std::string_view piece; !(piece = text.next()).empty();) {
    while (!piece.empty()) {
      const std::size_t end = piece.find('\n');
      check.add_part(piece.substr(0, end));
      if (end == std::string_view::npos) break;
      check.end_line();
      piece.remove_prefix(end + 1);
    }
  }
  if (check.has_open_line()) check.end_line();
}

}  // namespace biogpu::genome
