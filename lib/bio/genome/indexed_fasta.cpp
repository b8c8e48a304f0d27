#include "lib/bio/genome/indexed_fasta.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lib/bio/genome/random_text.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::genome {
namespace {

constexpr std::size_t kMaxHeaderBytes = 4096;  // of a sequence, that are looked at

bool is_blank(char c) { return c == '\n' || c == '\r' || c == ' ' || c == '\t'; }

}  // namespace

class IndexedFasta::Impl {
 public:
  Impl(const std::string& path, MissingIndex missing) : Impl(FaidxFiles(path), missing) {}

  const std::string& path() const { return files_.fasta; }
  std::span<const Contig> contigs() const { return contigs_; }

  std::optional<std::size_t> find(std::string_view name) const {
    const auto at = index_.find(name);
    return at == index_.end() ? std::nullopt : std::optional(at->second);
  }

  std::size_t require(std::string_view name, const std::string& context) const {
    if (const auto contig = find(name)) return *contig;
    throw Error(ErrorCode::bad_input, fmt::format("{}: {}", context, describe_missing(name)));
  }

  std::string describe_missing(std::string_view name) const {
    return genome::describe_missing(files_.fasta, name, contigs_, [&](std::string_view other) {
      return find(other).has_value();
    });
  }

  void fetch(std::size_t contig, std::int64_t begin, std::span<LetterCode> codes) const {
    std::fill(codes.begin(), codes.end(), kUnknownLetter);
    const auto length = static_cast<std::int64_t>(contigs_[contig].length);
    const auto size = static_cast<std::int64_t>(codes.size());
    if (begin >= length || (begin < 0 && begin + size <= 0)) return;
    const std::int64_t first = std::max<std::int64_t>(begin, 0);
    const std::int64_t n = std::min(length - first, size - (first - begin));
    if (n > 0)
      read(contig, first,
           codes.subspan(static_cast<std::size_t>(first - begin), static_cast<std::size_t>(n)));
  }

  std::string letters(std::size_t contig, std::int64_t begin, std::size_t n) const {
    std::string text;
    text.reserve(n);
    for_lines(contig, static_cast<std::uint64_t>(begin), n, [&](std::string_view line) {
      std::vector<LetterCode> codes(line.size());
      const std::size_t n_known = encode_letters(line, codes.data());
      text += line;
      return n_known;
    });
    return text;
  }

 private:
  Impl(const FaidxFiles& files, MissingIndex missing) : Impl(files, open_index(files, missing)) {}
  Impl(const FaidxFiles& files, FaidxIndex index)
      : files_(files),
        entries_(std::move(index.entries)),
        text_(files_, std::move(index.blocks)),
        is_checked_(entries_.size()) {
    for (const FaiEntry& entry : entries_) contigs_.push_back({entry.name, entry.length});
    for (std::size_t i = 0; i < contigs_.size(); ++i) index_.emplace(contigs_[i].name, i);
  }

  // Letters that the contig has.
  void read(std::size_t contig, std::int64_t first, std::span<LetterCode> codes) const {
    LetterCode* to = codes.data();
    for_lines(contig, static_cast<std::uint64_t>(first), codes.size(), [&](std::string_view line) {
      const std::size_t n_known = encode_letters(line, to);
      to += line.size();
      return n_known;
    });
  }

  // Calls take(line) for the parts of lines that letters [letter, letter + n) lie in; it returns
  // where in the part something is no letter.
  template <class Take>
  void for_lines(std::size_t contig, std::uint64_t letter, std::size_t n, const Take& take) const {
    const FaiEntry& entry = entries_[contig];
    check_place(contig);
    const std::uint64_t end = letter + n;
    const std::uint64_t begin_byte = entry.offset_of(letter);
    std::string text(entry.offset_of(end - 1) + 1 - begin_byte, '\0');
    text_.read(begin_byte, text.data(), text.size());
    for (std::size_t at = 0; letter < end;) {
      const std::uint64_t n_left = entry.line_letters - letter % entry.line_letters;
      const std::size_t n_here = std::min(n_left, end - letter);
      const std::string_view line(text.data() + at, n_here);
      const std::size_t n_known = take(line);
      if (n_known < n_here) refuse_letter(entry, letter + n_known, line[n_known]);
      letter += n_here;
      at += n_here;
      for (std::size_t i = n_here;
           letter < end && i < n_here + entry.line_bytes - entry.line_letters; ++i)
        if (!is_blank(text[at++])) refuse_index(entry);
    }
  }

  // An index of an earlier file would give letters of other places.
  void check_place(std::size_t contig) const {
    if (is_checked_[contig].load(std::memory_order_relaxed)) return;
    const FaiEntry& entry = entries_[contig];
    if (!follows_header(entry) || !ends_line(entry) || !ends_there(entry)) refuse_index(entry);
    is_checked_[contig].store(true, std::memory_order_relaxed);
  }

  // Whether the line before the letters is '>', the name and what may follow it. One that is too
  // long to be looked at counts.
  bool follows_header(const FaiEntry& entry) const {
    const std::uint64_t begin =
        entry.offset - std::min<std::uint64_t>(entry.offset, kMaxHeaderBytes);
    std::string text(static_cast<std::size_t>(entry.offset - begin), '\0');
    text_.read(begin, text.data(), text.size());
    if (text.empty() || text.back() != '\n') return false;
    text.pop_back();
    const std::size_t newline = text.rfind('\n');
    if (newline == text.npos && begin > 0) return true;
    const std::string_view header =
        std::string_view(text).substr(newline == text.npos ? files_.mark_bytes : newline + 1);
    const std::string_view name = entry.name;
    return header.starts_with('>') && header.substr(1).starts_with(name) &&
           (header.size() == name.size() + 1 || is_blank(header[name.size() + 1]));
  }

  // Whether the first line is as long as the index says.
  bool ends_line(const FaiEntry& entry) const {
    if (entry.length <= entry.line_letters) return true;
    std::string end(static_cast<std::size_t>(entry.line_bytes - entry.line_letters + 1), '\0');
    text_.read(entry.offset + entry.line_letters - 1, end.data(), end.size());
    return !is_blank(end.front()) && end.back() == '\n' &&
           std::all_of(end.begin() + 1, end.end(), is_blank);
  }

  // Whether nothing of the sequence is behind its last letter.
  bool ends_there(const FaiEntry& entry) const {
    char behind[kMaxLineEnd + 2];
    const std::size_t n = text_.read_some(entry.offset_of(entry.length - 1), behind, sizeof behind);
    if (n == 0) text_.read(entry.offset_of(entry.length - 1), behind, 1);  // which says why
    if (is_blank(behind[0])) return false;
    const char* const next = std::find_if_not(behind + 1, behind + n, is_blank);
    return next == behind + n || (*next == '>' && next[-1] == '\n');
  }

  [[noreturn]] void refuse_index(const FaiEntry& entry) const {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: does not fit {} at sequence {}; remove the index, which may be "
                            "that of an earlier file",
                            files_.fai, files_.fasta, quoted(entry.name)));
  }

  [[noreturn]] void refuse_letter(const FaiEntry& entry, std::uint64_t letter, char found) const {
    if (found == '\n' || found == '>') refuse_index(entry);
    throw Error(
        ErrorCode::bad_input,
        fmt::format("{}: sequence {}: {} at position {}; {}", files_.fasta, quoted(entry.name),
                    quoted(std::string_view(&found, 1)), letter + 1, kExpectedLetters));
  }

  FaidxFiles files_;
  std::vector<FaiEntry> entries_;
  RandomText text_;
  mutable std::vector<std::atomic<bool>> is_checked_;  // of each sequence: check_place()
  std::vector<Contig> contigs_;
  std::unordered_map<std::string_view, std::size_t> index_;  // names of contigs_
};

IndexedFasta::IndexedFasta(const std::string& path, MissingIndex missing)
    : impl_(std::make_unique<Impl>(path, missing)) {}
IndexedFasta::~IndexedFasta() = default;
IndexedFasta::IndexedFasta(IndexedFasta&&) noexcept = default;
IndexedFasta& IndexedFasta::operator=(IndexedFasta&&) noexcept = default;

const std::string& IndexedFasta::path() const { return impl_->path(); }
std::span<const Contig> IndexedFasta::contigs() const { return impl_->contigs(); }
std::optional<std::size_t> IndexedFasta::find(std::string_view name) const {
  return impl_->find(name);
}
std::string IndexedFasta::describe_missing(std::string_view name) const {
  return impl_->describe_missing(name);
}
std::size_t IndexedFasta::require(std::string_view name, const std::string& context) const {
  return impl_->require(name, context);
}
void IndexedFasta::fetch(std::size_t contig, std::int64_t begin,
                         std::span<LetterCode> codes) const {
  impl_->fetch(contig, begin, codes);
}

std::string IndexedFasta::letters(std::size_t contig, std::int64_t begin, std::size_t n) const {
  return impl_->letters(contig, begin, n);
}

}  // namespace biogpu::genome
