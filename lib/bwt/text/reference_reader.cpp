#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <string_view>

#include "lib/bwt/text/reference.hpp"
#include "lib/core/error.hpp"
#include "lib/io/alignments/bam.hpp"
#include "lib/io/alignments/hts.hpp"
#include "lib/io/char_buffer.hpp"
#include "lib/io/input/bgzf.hpp"
#include "lib/io/input/block_source.hpp"
#include "lib/io/input/compression.hpp"
#include "lib/io/input/gzip.hpp"
#include "lib/io/input/raw_file.hpp"

namespace biogpu::bwt {
namespace {

constexpr std::uint8_t kAmbiguous = 4;

constexpr std::array<std::uint8_t, 256> make_codes() {
  std::array<std::uint8_t, 256> codes{};
  codes.fill(kAmbiguous);
  for (std::uint8_t i = 0; i < 4; ++i) {
    codes[static_cast<unsigned char>("ACGT"[i])] = i;
    codes[static_cast<unsigned char>("acgt"[i])] = i;
  }
  return codes;
}
constexpr std::array<std::uint8_t, 256> kCodes = make_codes();

// Eight letters of A, C, G, T in either case as 16 bits, the first highest; false where one is
// another. Bits 1 and 2 of a letter tell its code, and the code what the letter must have been.
bool pack_eight(const char* letters, std::uint32_t& packed) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t kEach = 0x0101010101010101u;
  std::uint64_t word = 0;
  std::memcpy(&word, letters, sizeof word);
  word &= 0xdf * kEach;
  const std::uint64_t low = (word >> 1 ^ word >> 2) & kEach;
  const std::uint64_t high = (word >> 2 ^ word >> 3) & kEach;
  if (word != 'A' * kEach + 2 * low + 6 * high + 11 * (low & high)) return false;
  std::uint64_t codes = __builtin_bswap64(high << 1 | low);
  codes = (codes | codes >> 6) & 0x000f000f000f000fu;
  codes = (codes | codes >> 12) & 0x000000ff000000ffu;
  packed = static_cast<std::uint32_t>((codes | codes >> 24) & 0xffffu);
  return true;
}

bool is_blank(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The bytes of a file, decompressed, one or a stretch at a time.
class Bytes {
 public:
  Bytes(const std::string& path, int n_threads) : file_(path) {
    const std::string head = file_.peek(io::input::RawFile::kMaxPeek);
    refuse_other_forms(head);
    const int n_ahead = n_threads > 1 ? n_threads : 0;
    if (io::input::bgzf_block_bytes(head) > 0) {
      source_ = std::make_unique<io::input::BlockSource>(
          std::make_unique<io::input::BgzfProducer>(file_), n_ahead);
    } else if (std::string_view(head).substr(0, 2) == "\x1f\x8b") {
      source_ = std::make_unique<io::input::BlockSource>(
          std::make_unique<io::input::GzipProducer>(file_, std::string_view()),
          std::min(n_ahead, 1));
    }
    buffer_.resize(kBytes);
  }

  const std::string& label() const { return file_.label(); }

  // The next byte, -1 at the end.
  int next() {
    if (begin_ == end_ && !refill()) return -1;
    return static_cast<unsigned char>(buffer_.data()[begin_++]);
  }

  // Gives take() the bytes up to the next line feed in one or more pieces and skips it. False where
  // the text had ended before.
  template <class Take>
  bool rest_of_line(const Take& take) {
    if (begin_ == end_ && !refill()) return false;
    do {
      const char* const from = buffer_.data() + begin_;
      const std::size_t n = end_ - begin_;
      const auto* const feed = static_cast<const char*>(std::memchr(from, '\n', n));
      const std::size_t length = feed != nullptr ? static_cast<std::size_t>(feed - from) : n;
      take(std::string_view(from, length));
      begin_ += length + (feed != nullptr ? 1 : 0);
      if (feed != nullptr) return true;
    } while (refill());
    return true;
  }

 private:
  static constexpr std::size_t kBytes = 256u << 10;

  // Text before the first record is passed over, and every letter of a record is some base, so that
  // any file would have an index.
  void refuse_other_forms(const std::string& head) const {
    io::input::refuse_compression(head, file_.label());
    const bool is_gzip = std::string_view(head).starts_with("\x1f\x8b");
    const std::string text =
        is_gzip ? io::input::inflate_head(head, io::input::RawFile::kMaxPeek) : head;
    if (io::input::is_bam(text) || io::input::is_hts(text) || text.find('\0') != std::string::npos)
      throw Error(
          ErrorCode::bad_input,
          fmt::format("{}: is no FASTA or FASTQ; expected text with '>' or '@' before each record",
                      file_.label()));
  }

  bool refill() {
    begin_ = 0;
    end_ = source_ ? source_->read(buffer_.data(), kBytes) : file_.read(buffer_.data(), kBytes);
    return end_ > 0;
  }

  io::input::RawFile file_;
  std::unique_ptr<io::input::ByteSource> source_;  // none for plain text
  io::CharBuffer buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

// Packs letters into a growing text and notes the holes.
class TextBuilder {
 public:
  explicit TextBuilder(Reference& reference) : reference_(reference) {}

  void begin_record() { last_letter_ = -1; }

  void append(std::string_view letters) {
    std::size_t i = 0;
    while (i < letters.size()) {
      std::uint32_t eight = 0;
      if (i + 8 <= letters.size() && pack_eight(letters.data() + i, eight)) {
        push_eight(eight);
        i += 8;
        last_letter_ = letters[i - 1];
        continue;
      }
      const std::uint8_t code = kCodes[static_cast<unsigned char>(letters[i])];
      if (code == kAmbiguous) {
        push(hole(letters[i]));
        ++i;
        continue;
      }
      push(code);
      last_letter_ = letters[i++];
    }
  }

  std::uint64_t size() const { return size_; }

  void finish() {
    if (n_in_word_ > 0) words_.push_back(word_ << (64 - 2 * n_in_word_));
    reference_.text = PackedText(size_, 2);
    std::copy(words_.begin(), words_.end(), reference_.text.words());
  }

 private:
  void push(unsigned base) {
    word_ = word_ << 2 | base;
    ++size_;
    if (++n_in_word_ < 32) return;
    words_.push_back(word_);
    n_in_word_ = 0;
  }

  void push_eight(std::uint64_t bases) {
    size_ += 8;
    const unsigned n_fit = std::min(8u, 32 - n_in_word_);
    const unsigned n_over = 8 - n_fit;
    word_ = word_ << (2 * n_fit) | bases >> (2 * n_over);
    n_in_word_ += n_fit;
    if (n_in_word_ < 32) return;
    words_.push_back(word_);
    word_ = bases & ((std::uint64_t{1} << (2 * n_over)) - 1);
    n_in_word_ = n_over;
  }

  // Notes an ambiguous letter and returns the base in its place.
  unsigned hole(char letter) {
    if (last_letter_ == static_cast<unsigned char>(letter)) {
      ++reference_.holes.back().length;
    } else {
      reference_.holes.push_back({size_, 1, letter});
      ++reference_.contigs.back().n_holes;
    }
    last_letter_ = static_cast<unsigned char>(letter);
    return filler_.next();
  }

  Reference& reference_;
  std::vector<std::uint64_t> words_;
  std::uint64_t word_ = 0;
  unsigned n_in_word_ = 0;
  std::uint64_t size_ = 0;
  int last_letter_ = -1;  // of this record
  FillerBases filler_;
};

class ReferenceReader {
 public:
  ReferenceReader(const std::string& path, int n_threads)
      : bytes_(path, n_threads), builder_(reference_) {}

  Reference read() {
    int c = find_record();
    if (c < 0 && found_text_) {
      throw Error(
          ErrorCode::bad_input,
          fmt::format("{}: holds no record; expected '>' (FASTA) or '@' (FASTQ)", bytes_.label()));
    }
    while (c >= 0) c = read_record();
    builder_.finish();
    return std::move(reference_);
  }

 private:
  // Skips what is before a record, as bwa does, and notes whether that is more than blanks.
  int find_record() {
    int c = bytes_.next();
    for (; c >= 0 && c != '>' && c != '@'; c = bytes_.next()) found_text_ |= !is_blank(c);
    return c;
  }

  // Reads what follows a '>' or '@'; returns the byte that begins the next record, -1 at the end.
  int read_record() {
    int c = bytes_.next();
    if (c < 0) return -1;  // a mark alone at the end of the file is no record
    Contig contig;
    contig.offset = builder_.size();
    for (; c >= 0 && !is_blank(c); c = bytes_.next()) contig.name += static_cast<char>(c);
    if (c >= 0 && c != '\n') {
      bytes_.rest_of_line([&](std::string_view piece) { contig.comment += piece; });
      if (contig.comment.size() > 1 && contig.comment.back() == '\r') contig.comment.pop_back();
      const std::size_t inside = contig.comment.find('\r');
      if (inside != std::string::npos && inside + 1 < contig.comment.size())
        throw Error(ErrorCode::bad_input,
                    fmt::format("{}: record {}: a carriage return inside the header line; expected "
                                "lines that end with LF or CRLF",
                                bytes_.label(), reference_.contigs.size() + 1));
    }
    reference_.contigs.push_back(std::move(contig));
    builder_.begin_record();
    while ((c = bytes_.next()) >= 0 && c != '>' && c != '@' && c != '+')
      if (c != '\n') read_line(static_cast<char>(c));
    Contig& read = reference_.contigs.back();
    read.length = builder_.size() - read.offset;
    if (c != '+') return c;
    skip_quality(read.length);
    return find_record();
  }

  // One line of the sequence. A carriage return at its end is no letter, unless it is the first of
  // the record.
  void read_line(char first) {
    bool held = false;
    const auto take = [&](std::string_view piece) {
      if (piece.empty()) return;
      if (held) builder_.append("\r");
      held = piece.back() == '\r';
      if (held) piece.remove_suffix(1);
      builder_.append(piece);
    };
    take(std::string_view(&first, 1));
    bytes_.rest_of_line(take);
    if (held && builder_.size() == reference_.contigs.back().offset) builder_.append("\r");
  }

  void skip_quality(std::uint64_t length) {
    bytes_.rest_of_line([](std::string_view) {});
    std::uint64_t n = 0;
    bool ends_in_return = false;
    const auto count = [&](std::string_view piece) {
      n += piece.size();
      if (!piece.empty()) ends_in_return = piece.back() == '\r';
    };
    do {
      ends_in_return = false;
      if (!bytes_.rest_of_line(count)) break;
      if (ends_in_return && n > 1) --n;
    } while (n < length);
    if (n != length) {
      throw Error(
          ErrorCode::bad_input,
          fmt::format("{}: record {}: quality has {} symbols, sequence has {}; the file may "
                      "be cut short, or be FASTA with a line that begins with '+'",
                      bytes_.label(), reference_.contigs.size(), n, length));
    }
  }

  Bytes bytes_;
  Reference reference_;
  TextBuilder builder_;
  bool found_text_ = false;
};

}  // namespace

Reference read_reference(const std::string& path, int n_threads) {
  return ReferenceReader(path, n_threads).read();
}

}  // namespace biogpu::bwt
