#include "lib/bio/genome/indexed_fasta.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lib/bio/genome/faidx_file.hpp"
#include "lib/bio/genome/random_text.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::genome {
namespace {

constexpr std::size_t kNamesShown = 3;

FaidxFiles prepare_index(const std::string& path, MissingIndex missing) {
  FaidxFiles files(path);
  if (missing == MissingIndex::write) {
    write_missing_index(files);
  } else {
    require_index(files);
  }
  return files;
}

}  // namespace

class IndexedFasta::Impl {
 public:
  Impl(const std::string& path, MissingIndex missing)
      : files_(prepare_index(path, missing)), entries_(read_fai(files_)), text_(files_) {
    for (const FaiEntry& entry : entries_) contigs_.push_back({entry.name, entry.length});
    for (std::size_t i = 0; i < contigs_.size(); ++i) index_.emplace(contigs_[i].name, i);
  }

  const std::string& path() const { return files_.fasta; }
  std::span<const Contig> contigs() const { return contigs_; }

  std::optional<std::size_t> find(std::string_view name) const {
    const auto at = index_.find(name);
    return at == index_.end() ? std::nullopt : std::optional(at->second);
  }

  std::size_t require(std::string_view name, const std::string& context) const {
    if (const auto contig = find(name)) return *contig;
    std::string names;
    for (std::size_t i = 0; i < std::min(kNamesShown, contigs_.size()); ++i)
      names += (i > 0 ? ", " : "") + shortened(contigs_[i].name);
    if (contigs_.size() > kNamesShown) names += ", ...";
    throw Error(ErrorCode::bad_input, fmt::format("{}: no sequence {} in {}, which has {}", context,
                                                  quoted(name), files_.fasta, names));
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

 private:
  // Letters that the contig has.
  void read(std::size_t contig, std::int64_t first, std::span<LetterCode> codes) const {
    const FaiEntry& entry = entries_[contig];
    auto letter = static_cast<std::uint64_t>(first);
    const std::uint64_t end = letter + codes.size();
    const std::uint64_t begin_byte = entry.offset_of(letter);
    std::string text(entry.offset_of(end - 1) + 1 - begin_byte, '\0');
    text_.read(begin_byte, text.data(), text.size());
    LetterCode* to = codes.data();
    for (std::size_t at = 0; letter < end;) {
      const std::uint64_t n_left = entry.line_letters - letter % entry.line_letters;
      const std::size_t n = std::min(n_left, end - letter);
      const std::string_view line(text.data() + at, n);
      const std::size_t n_known = encode_letters(line, to);
      if (n_known < n) refuse_letter(entry, letter + n_known, line[n_known]);
      to += n;
      letter += n;
      at += n;
      for (std::size_t i = n; letter < end && i < n + entry.line_bytes - entry.line_letters; ++i)
        if (!is_blank(text[at++])) refuse_letter(entry, letter, text[at - 1]);
    }
  }

  static bool is_blank(char c) { return c == '\n' || c == '\r' || c == ' ' || c == '\t'; }

  [[noreturn]] void refuse_letter(const FaiEntry& entry, std::uint64_t letter, char found) const {
    throw Error(
        ErrorCode::bad_input,
        fmt::format("{}: sequence {}: {} at position {}; {}", files_.fasta, quoted(entry.name),
                    quoted(std::string_view(&found, 1)), letter + 1, kExpectedLetters));
  }

  FaidxFiles files_;
  std::vector<FaiEntry> entries_;
  RandomText text_;
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
std::size_t IndexedFasta::require(std::string_view name, const std::string& context) const {
  return impl_->require(name, context);
}
void IndexedFasta::fetch(std::size_t contig, std::int64_t begin,
                         std::span<LetterCode> codes) const {
  impl_->fetch(contig, begin, codes);
}

}  // namespace biogpu::genome
