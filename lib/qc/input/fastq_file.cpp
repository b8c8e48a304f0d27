#include "lib/qc/input/fastq_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "lib/core/error.hpp"
#include "lib/io/input/bgzf.hpp"
#include "lib/io/input/byte_order_mark.hpp"
#include "lib/io/input/compression.hpp"
#include "lib/io/input/gzip.hpp"
#include "lib/io/input/parallel_gzip.hpp"
#include "lib/qc/input/line_ends.hpp"

namespace biogpu::qc {
namespace {

// What is scanned at once should still be in the second-level cache when its lines are looked at.
constexpr std::size_t kPiece = 256u << 10;

// A file lends itself to its reader.
class Borrowed : public io::input::ByteSource {
 public:
  explicit Borrowed(io::input::RawFile& file) : file_(file) {}
  std::size_t read(char* to, std::size_t n) override { return file_.read(to, n); }

 private:
  io::input::RawFile& file_;
};

constexpr std::uint64_t kBytesWorthPieces = 8u << 20;

std::unique_ptr<io::input::ByteSource> open_text(io::input::RawFile& file, bool is_stdin,
                                                 const Inflaters& inflaters) {
  using io::input::BlockSource;
  const std::string head = file.peek(64);
  if (io::input::bgzf_block_bytes(head) > 0)
    return std::make_unique<BlockSource>(std::make_unique<io::input::BgzfProducer>(file),
                                         inflaters.bgzf);
  io::input::refuse_compression(head, file.label());
  if (!head.starts_with("\x1f\x8b")) return std::make_unique<Borrowed>(file);
  if (inflaters.pieces > 0 && !is_stdin && file.file_bytes() >= kBytesWorthPieces)
    return std::make_unique<BlockSource>(std::make_unique<io::input::ParallelGzipProducer>(file),
                                         inflaters.pieces);
  return std::make_unique<BlockSource>(
      std::make_unique<io::input::GzipProducer>(file, std::string_view()), 0);
}

}  // namespace

FastqFile::FastqFile(const std::string& path, Damage damage, const Inflaters& inflaters)
    : file_(path == "/dev/stdin" ? "-" : path),
      text_(io::input::without_mark(
          open_text(file_, path == "-" || path == "/dev/stdin", inflaters), file_.label())),
      damage_(damage) {}

FastqFile::~FastqFile() = default;

void FastqFile::refuse(const std::string& what) const {
  throw Error(ErrorCode::bad_input, fmt::format("{}: record {} (line {}): {}", file_.label(),
                                                n_records_ + 1, n_lines_, what));
}

bool FastqFile::fill(FastqChunk& chunk) {
  const std::size_t size = chunk.text.size();
  if (size - line_begin_ > kMaxLine) {
    ++n_lines_;
    refuse_long_line();
  }
  chunk.text.resize(size + kPiece + FastqChunk::kPadding);
  const std::size_t got = at_end_ ? 0 : text_->read(chunk.text.data() + size, kPiece);
  chunk.text.resize(size + got);
  at_end_ = got < kPiece;
  return got > 0;
}

void FastqFile::refuse_long_line() const {
  refuse(fmt::format("the line is longer than {} MiB, the most of a read", kMaxLine >> 20));
}

// Lines between records, of which there may be any number, give their place to what follows.
void FastqFile::drop_skipped(FastqChunk& chunk) {
  if (next_ != Line::name || line_begin_ == records_end_) return;
  char* const text = chunk.text.data();
  const std::size_t n = chunk.text.size() - line_begin_;
  std::memmove(text + records_end_, text + line_begin_, n);
  chunk.text.resize(records_end_ + n);
  line_begin_ = records_end_;
}

bool FastqFile::read(FastqChunk& chunk, std::size_t n, std::size_t max_bytes) {
  chunk.records.clear();
  chunk.text.clear();
  if (stopped_ || n == 0) return false;
  chunk.text.append(rest_.data(), rest_.size());
  rest_.clear();
  next_ = Line::name;
  line_begin_ = records_end_ = 0;
  std::size_t scanned = 0;
  const auto is_full = [&] { return chunk.records.size() == n || records_end_ >= max_bytes; };
  while (!is_full() && !stopped_) {
    if (scanned == chunk.text.size()) {
      drop_skipped(chunk);
      scanned = chunk.text.size();
      if (!fill(chunk)) {
        if (line_begin_ < chunk.text.size()) take_line(chunk, line_begin_, chunk.text.size());
        end_of_file(chunk);
        line_begin_ = chunk.text.size();
        break;
      }
    }
    line_ends_.clear();
    find_line_ends(chunk.text.data() + scanned, chunk.text.size() - scanned, line_ends_);
    for (const std::uint32_t at : line_ends_) {
      const bool whole = take_line(chunk, line_begin_, scanned + at);
      line_begin_ = scanned + at + 1;
      if (whole) records_end_ = line_begin_;
      if (stopped_ || (whole && is_full())) break;
    }
    scanned = chunk.text.size();
  }
  if (!stopped_) rest_.append(chunk.text.data() + line_begin_, chunk.text.size() - line_begin_);
  // The vector loads of the steps may look behind the last base.
  const std::size_t used = std::min(line_begin_, chunk.text.size());
  chunk.text.resize(used + FastqChunk::kPadding);
  std::memset(chunk.text.data() + used, 0, FastqChunk::kPadding);
  return !chunk.records.empty();
}

// Takes the line [begin, end) into the record. True when the line completed one.
bool FastqFile::take_line(FastqChunk& chunk, std::size_t begin, std::size_t end) {
  ++n_lines_;
  if (end - begin > kMaxLine) refuse_long_line();
  const char* text = chunk.text.data();
  if (end > begin && text[end - 1] == '\r') --end;
  const auto length = static_cast<std::uint32_t>(end - begin);
  switch (next_) {
    case Line::name:
      if (length == 0) return false;
      if (text[begin] != '@') {
        stopped_ = damage_ == Damage::ends_look;
        if (!is_strict()) return false;
        refuse("expected '@' and a name; is this a FASTQ file?");
      }
      record_.begin = begin;
      record_.name_length = length;
      next_ = Line::sequence;
      return false;
    case Line::sequence:
      record_.sequence_at = static_cast<std::uint32_t>(begin - record_.begin);
      record_.length = length;
      next_ = Line::strand;
      return false;
    case Line::strand:
      if (is_strict() && (length == 0 || text[begin] != '+'))
        refuse("expected '+' between sequence and quality");
      record_.strand_at = static_cast<std::uint32_t>(begin - record_.begin);
      record_.strand_length = length;
      next_ = Line::quality;
      return false;
    case Line::quality:
      break;
  }
  record_.quality_at = static_cast<std::uint32_t>(begin - record_.begin);
  quality_length_ = length;
  next_ = Line::name;
  return end_record(chunk);
}

bool FastqFile::end_record(FastqChunk& chunk) {
  if (quality_length_ != record_.length) {
    if (is_strict())
      refuse(fmt::format("quality has {} symbols, sequence has {}; the file may be cut short",
                         quality_length_, record_.length));
    remarks_.push_back(fmt::format(
        "ERROR: sequence and quality have different length:\n{}: record {} and what follows it are "
        "left out",
        file_.label(), n_records_ + 1));
    stopped_ = true;
    return false;
  }
  chunk.records.push_back(record_);
  ++n_records_;
  return true;
}

void FastqFile::end_of_file(FastqChunk& chunk) {
  if (next_ != Line::name) {
    // Of a read without bases the last line, an empty one without its end, is not to be seen.
    const bool is_whole = next_ == Line::quality && record_.length == 0;
    if (is_strict() && !is_whole) refuse("the file ends inside the record; it may be cut short");
    // fastp reads the missing lines as empty ones.
    const auto end = static_cast<std::uint32_t>(chunk.text.size() - record_.begin);
    if (next_ == Line::sequence) record_.length = 0, record_.sequence_at = end;
    if (next_ != Line::quality) record_.strand_length = 0, record_.strand_at = end;
    record_.quality_at = end;
    quality_length_ = 0;
    next_ = Line::name;
    end_record(chunk);
  }
  stopped_ = true;
}

}  // namespace biogpu::qc
