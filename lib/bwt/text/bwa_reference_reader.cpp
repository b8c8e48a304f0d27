#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

#include "lib/bwt/text/reference_builder.hpp"
#include "lib/core/error.hpp"
#include "lib/io/alignments/bam.hpp"
#include "lib/io/alignments/hts.hpp"
#include "lib/io/char_buffer.hpp"
#include "lib/io/input/byte_order_mark.hpp"
#include "lib/io/input/compression.hpp"
#include "lib/io/input/gzip.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/io/input/text_source.hpp"
#include "lib/io/records/header_line.hpp"
#include "lib/io/records/record_source.hpp"

namespace biogpu::bwt {
namespace {

bool is_blank(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The bytes of a file, decompressed, one or a stretch at a time.
class Bytes {
 public:
  Bytes(const std::string& path, int n_threads) : file_(path) {
    const std::string head = file_.peek(io::input::RawFile::kMaxPeek);
    refuse_other_forms(head);
    source_ = io::input::open_text(file_, head, n_threads);
    buffer_.resize(kBytes);
  }

  const std::string& label() const { return file_.label(); }
  // Number of the line that the next byte is on.
  std::uint64_t line() const { return line_; }

  // The next byte, -1 at the end.
  int next() {
    if (begin_ == end_ && !refill()) return -1;
    const char byte = buffer_.data()[begin_++];
    if (byte == '\n') ++line_;
    return static_cast<unsigned char>(byte);
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
      if (feed != nullptr) {
        ++line_;
        return true;
      }
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
    (void)io::input::count_mark_bytes(text, file_.label());  // says so of UTF-16
    if (io::input::is_bam(text) || io::input::is_hts(text) || text.find('\0') != std::string::npos)
      throw Error(
          ErrorCode::bad_input,
          fmt::format("{}: is no FASTA or FASTQ; expected text with '>' or '@' before each record",
                      file_.label()));
  }

  bool refill() {
    begin_ = 0;
    end_ = source_->read(buffer_.data(), kBytes);
    return end_ > 0;
  }

  io::input::RawFile file_;
  std::unique_ptr<io::input::ByteSource> source_;
  io::CharBuffer buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t line_ = 1;
};

class BwaReferenceReader {
 public:
  BwaReferenceReader(const std::string& path, int n_threads)
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
    const std::uint64_t line = bytes_.line();
    Contig contig;
    contig.offset = builder_.size();
    for (; c >= 0 && !is_blank(c); c = bytes_.next()) {
      contig.name += static_cast<char>(c);
      check_header(contig, line);
    }
    if (c >= 0 && c != '\n') {
      bytes_.rest_of_line([&](std::string_view piece) {
        contig.comment += piece;
        check_header(contig, line);
      });
      if (contig.comment.size() > 1 && contig.comment.back() == '\r') contig.comment.pop_back();
      const std::size_t inside = contig.comment.find('\r');
      if (inside != std::string::npos && inside + 1 < contig.comment.size())
        refuse(reference_.contigs.size() + 1, line, io::input::kReturnInHeader);
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

  [[noreturn]] void refuse(std::size_t record, std::uint64_t line, const std::string& what) const {
    io::input::refuse_record(bytes_.label(), record, line, what);
  }

  void check_header(const Contig& contig, std::uint64_t line) const {
    if (contig.name.size() + contig.comment.size() > io::input::kMaxHeaderBytes)
      refuse(reference_.contigs.size() + 1, line, io::input::kHeaderTooLong);
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
    const std::uint64_t line = bytes_.line() + 1;
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
    if (n != length)
      refuse(
          reference_.contigs.size(), line,
          fmt::format("quality has {} symbols, sequence has {}; the file may be cut short, or be "
                      "FASTA with a line that begins with '+'",
                      n, length));
  }

  Bytes bytes_;
  Reference reference_;
  ReferenceBuilder builder_;
  bool found_text_ = false;
};

}  // namespace

Reference read_reference_as_bwa(const std::string& path, int n_threads) {
  return BwaReferenceReader(path, n_threads).read();
}

}  // namespace biogpu::bwt
