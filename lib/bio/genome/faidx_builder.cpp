#include "lib/bio/genome/faidx_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/input/bgzf.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/io/text_reader.hpp"

namespace biogpu::genome {
namespace {

constexpr std::size_t kMaxNameBytes = 1u << 16;
constexpr std::size_t kBgzfHeadBytes = 18;

// Takes the lines of a FASTA file in parts, as a line may be a whole chromosome.
class FaiBuilder {
 public:
  FaiBuilder(const std::string& path, std::uint64_t mark_bytes)
      : path_(path), offset_(mark_bytes) {}

  void add_part(std::string_view part) {
    if (n_bytes_ == 0 && !part.empty()) in_header_ = part.front() == '>';
    if (in_header_ && name_.size() < kMaxNameBytes) name_ += part;
    n_bytes_ += part.size();
    const std::size_t last = part.find_last_not_of(" \t\r");
    n_blank_ = last == part.npos ? n_blank_ + part.size() : part.size() - 1 - last;
  }

  void end_line(bool has_newline) {
    const std::uint64_t n_letters = n_bytes_ - n_blank_;
    const std::uint64_t n_bytes = n_bytes_ + (has_newline ? 1 : 0);
    offset_ += n_bytes;
    if (in_header_) {
      begin_record();
    } else {
      add_line(n_letters, n_bytes, has_newline);
    }
    ++line_;
    n_bytes_ = n_blank_ = 0;
    in_header_ = false;
  }

  bool has_open_line() const { return n_bytes_ > 0; }
  // Without sequences that have no letters, as samtools has them.
  std::vector<FaiEntry> take_entries() {
    std::erase_if(entries_, [](const FaiEntry& entry) { return entry.length == 0; });
    return std::move(entries_);
  }

 private:
  void begin_record() {
    short_line_ = false;
    const std::size_t end = std::min(name_.find_first_of(" \t\r", 1), name_.size());
    entries_.push_back({name_.substr(1, end - 1), 0, offset_, 0, 0});
    name_.clear();
    const std::string& name = entries_.back().name;
    if (name.empty()) fail("has no name");
    if (!names_.insert(name).second) fail("has the name of an earlier record");
  }

  void add_line(std::uint64_t n_letters, std::uint64_t n_bytes, bool has_newline) {
    if (n_letters == 0) {
      short_line_ = true;
      return;
    }
    if (entries_.empty()) fail("does not begin with '>'");
    FaiEntry& entry = entries_.back();
    const bool first = entry.length == 0;
    // A blank line in front of the letters leaves them where no index finds them.
    if (short_line_)
      fail(first ? "an empty line before the sequence"
                 : fmt::format("follows a line that is shorter than the first, of {}; expected "
                               "lines of one length",
                               entry.line_letters));
    if (first) {
      entry.line_letters = n_letters;
      entry.line_bytes = n_bytes + (has_newline ? 0 : 1);  // as samtools has it
      if (n_bytes - n_letters > kMaxLineEnd) fail("has too many blanks at its end");
    }
    if (n_letters > entry.line_letters)
      fail(fmt::format("{} letters, the first line has {}; expected lines of one length", n_letters,
                       entry.line_letters));
    short_line_ = n_letters < entry.line_letters || n_bytes != entry.line_bytes;
    entry.length += n_letters;
  }

  [[noreturn]] void fail(const std::string& what) const {
    const std::string name =
        entries_.empty() || entries_.back().name.empty() ? "" : quoted(entries_.back().name) + ", ";
    throw Error(ErrorCode::bad_input, fmt::format("{}: record {} ({}line {}): {}", path_,
                                                  entries_.size(), name, line_, what));
  }

  const std::string path_;
  std::unordered_set<std::string> names_;
  std::vector<FaiEntry> entries_;
  std::string name_;  // of the header that is being read
  std::uint64_t line_ = 1;
  std::uint64_t offset_;                     // of the line's end
  std::uint64_t n_bytes_ = 0, n_blank_ = 0;  // of the line so far; those at its end
  bool in_header_ = false, short_line_ = false;
};

}  // namespace

std::vector<FaiEntry> build_fai(const std::string& path, std::uint64_t mark_bytes) {
  io::TextReader text(path);
  FaiBuilder builder(path, mark_bytes);
  for (std::string_view piece; !(piece = text.next()).empty();) {
    while (!piece.empty()) {
      const std::size_t end = piece.find('\n');
      builder.add_part(piece.substr(0, end));
      if (end == std::string_view::npos) break;
      builder.end_line(true);
      piece.remove_prefix(end + 1);
    }
  }
  if (builder.has_open_line()) builder.end_line(false);
  return builder.take_entries();
}

std::vector<BgzfBlock> build_gzi(const std::string& path) {
  const io::input::RawFile file(path);
  std::vector<BgzfBlock> blocks;
  for (BgzfBlock at; at.packed < file.file_bytes();) {
    char head[kBgzfHeadBytes] = {}, tail[4] = {};
    const std::size_t n_head = file.read_at(at.packed, head, sizeof head);
    const int size = io::input::bgzf_block_bytes({head, n_head});
    const std::uint64_t n_bytes = size > 0 ? static_cast<std::uint64_t>(size) : 0;
    if (n_bytes < sizeof tail ||
        file.read_at(at.packed + n_bytes - sizeof tail, tail, sizeof tail) != sizeof tail)
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: has no whole BGZF block at byte {}; it may be cut short", path,
                              at.packed));
    std::uint32_t n_text = 0;  // little-endian, as the machine
    std::memcpy(&n_text, tail, sizeof tail);
    if (n_text > 0) blocks.push_back(at);
    at.packed += n_bytes;
    at.text += n_text;
  }
  return blocks;
}

}  // namespace biogpu::genome
