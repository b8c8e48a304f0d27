#include "lib/io/sequence_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "lib/core/error.hpp"
#include "lib/io/alignments/bam.hpp"
#include "lib/io/alignments/hts.hpp"
#include "lib/io/input/byte_order_mark.hpp"
#include "lib/io/input/compression.hpp"
#include "lib/io/input/gzip.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/io/input/text_source.hpp"
#include "lib/io/records/fasta.hpp"
#include "lib/io/records/fastq.hpp"
#include "lib/io/records/record_chunks.hpp"
#include "lib/io/records/text_window.hpp"

namespace biogpu::io {
namespace {

using namespace std::string_view_literals;

// What is in front of the first record: blank lines, and comments, which only FASTA has.
struct TextBefore {
  std::uint64_t n_lines = 0;
  std::uint64_t comment_line = 0;  // the first, from 1; 0 for none
};

TextBefore skip_to_first_record(input::TextWindow& text) {
  TextBefore before;
  bool in_comment = false;
  for (; text.has_text(); text.skip_to(text.begin() + 1)) {
    const char byte = *text.begin();
    if (byte == input::kCommentMark && !in_comment) {
      in_comment = true;
      if (before.comment_line == 0) before.comment_line = before.n_lines + 1;
    }
    if (!in_comment && " \t\r\n"sv.find(byte) == std::string_view::npos) break;
    if (byte != '\n') continue;
    ++before.n_lines;
    in_comment = false;
  }
  return before;
}

}  // namespace

class SequenceReader::Impl {
 public:
  Impl(std::string where, std::unique_ptr<input::RawFile> opened, int n_threads, bool words,
       std::size_t chunk_bytes);

  bool read(SequenceBatch& batch, const BatchLimits& limits, bool any);
  std::uint64_t compressed_bytes() const;

  std::string path;
  std::unique_ptr<input::RawFile> opened;
  input::RawFile& file;
  std::uint64_t n_records = 0;
  std::uint64_t n_residues = 0;
  RecordRange range;
  bool is_alignments = false;  // SAM, BAM or CRAM

  void split_records(std::uint64_t n, std::size_t overlap) {
    rules_.max_residues = n;
    overlap_ = overlap;
  }

 private:
  void skip_mark_of_sam(std::size_t mark_bytes, bool is_gzip);
  void look_at_text();
  void start();
  void start_serial(std::unique_ptr<input::TextWindow> text, std::uint64_t line,
                    std::uint64_t n_before);
  bool worth_chunks() const;
  void skip();
  bool has_chunk();
  bool resume_chunks();
  void note_serial_record(const SequenceBatch& batch, bool goes_on);
  bool take_chunk(SequenceBatch& batch);
  bool append_next(SequenceBatch& batch);
  bool in_record() const { return records_ && records_->in_record(); }
  std::uint64_t n_left() const { return range.end - std::min(range.end, n_skipped_ + n_records); }

  const int n_threads_;
  input::ChunkRules rules_;
  std::size_t overlap_ = 0;                  // of the pieces of long records
  std::uint64_t n_skipped_ = 0;              // records before the range
  std::unique_ptr<input::TextWindow> text_;  // none for SAM and CRAM, nor once chunks are read
  bool is_plain_ = false;                    // a regular file of plain text
  bool is_text_ = false;                     // FASTA or FASTQ that start() is to read
  input::HtsSource* hts_ = nullptr;          // records_ where it is one
  // Records come from chunks first, then from a serial source: none for an empty file.
  std::unique_ptr<input::RecordChunks> chunks_;
  input::RecordChunk* chunk_ = nullptr;
  std::size_t in_chunk_ = 0;  // its records that were given out
  std::uint64_t n_before_chunks_ = 0;
  std::uint64_t n_short_residues_ = 0;  // since the last long record that one thread read
  std::unique_ptr<input::RecordSource> records_;
};

SequenceReader::Impl::Impl(std::string where, std::unique_ptr<input::RawFile> opened_file,
                           int n_threads, bool words, std::size_t chunk_bytes)
    : path(std::move(where)), opened(std::move(opened_file)), file(*opened), n_threads_(n_threads) {
  rules_.words = words;
  rules_.chunk_bytes = chunk_bytes;
  const std::string head = file.peek(input::RawFile::kMaxPeek);
  const bool is_gzip = std::string_view(head).starts_with(input::kGzipMagic);
  const std::string text = is_gzip ? input::inflate_head(head, input::RawFile::kMaxPeek) : head;
  const std::size_t mark_bytes = input::count_mark_bytes(text, file.label());
  is_alignments = input::is_bam(text) || input::is_hts(std::string_view(text).substr(mark_bytes));
  if (input::is_bam(text)) {
    text_ = std::make_unique<input::TextWindow>(
        input::open_text(file, head, n_threads, input::EndMarker::required));
    records_ = std::make_unique<input::BamSource>(*text_, file.label());
    return;
  }
  if (is_alignments) {
    skip_mark_of_sam(mark_bytes, is_gzip);
    auto hts = std::make_unique<input::HtsSource>(file, n_threads);
    hts_ = hts.get();
    records_ = std::move(hts);
    return;
  }
  input::refuse_compression(head, file.label());
  text_ = std::make_unique<input::TextWindow>(input::open_text(file, head, n_threads));
  is_plain_ = !is_gzip && file.file_bytes() > 0;
  look_at_text();
}

// htslib reads the file itself, and takes the mark for a part of the first line.
void SequenceReader::Impl::skip_mark_of_sam(std::size_t mark_bytes, bool is_gzip) {
  if (mark_bytes > 0 && is_gzip)
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: is compressed SAM that begins with a byte order mark; expected "
                            "SAM without, or not compressed",
                            file.label()));
  std::string mark(mark_bytes, '\0');
  file.read(mark.data(), mark_bytes);
}

// Finds the first record and its format.
void SequenceReader::Impl::look_at_text() {
  const TextBefore before = skip_to_first_record(*text_);
  rules_.first_line = before.n_lines + 1;
  is_text_ = text_->has_text();
  if (!is_text_ && before.comment_line == 0) return;
  const char first = is_text_ ? *text_->begin() : input::kCommentMark;
  const bool is_fastq = first == '@' && before.comment_line == 0;
  if (first != '>' && !is_fastq)
    input::refuse_record(
        file.label(), 1, first == '@' ? before.comment_line : rules_.first_line,
        fmt::format("{} begins the file; expected '>' (FASTA), '@' (FASTQ), or SAM, "
                    "BAM or CRAM",
                    input::show_byte(first == '@' ? input::kCommentMark : first)));
  rules_.format = first == '>' ? input::RecordFormat::fasta : input::RecordFormat::fastq;
}

// Whether there is more than a chunk.
bool SequenceReader::Impl::worth_chunks() const {
  if (n_threads_ < 2) return false;
  if (!is_plain_) return text_->size() > rules_.chunk_bytes || !text_->at_end();
  return file.file_bytes() > file.begin() + file.bytes_read() - text_->size() + rules_.chunk_bytes;
}

void SequenceReader::Impl::start() {
  if (!is_text_) return;
  is_text_ = false;
  if (!worth_chunks()) return start_serial(std::move(text_), rules_.first_line, 0);
  if (is_plain_) {
    const std::uint64_t begin = file.begin() + file.bytes_read() - text_->size();
    text_.reset();
    chunks_ = std::make_unique<input::RecordChunks>(file, begin, rules_, n_threads_);
  } else {
    chunks_ = std::make_unique<input::RecordChunks>(std::move(text_), rules_, n_threads_);
  }
}

void SequenceReader::Impl::start_serial(std::unique_ptr<input::TextWindow> text, std::uint64_t line,
                                        std::uint64_t n_before) {
  text_ = std::move(text);
  if (rules_.format == input::RecordFormat::fastq) {
    records_ = std::make_unique<input::FastqSource>(*text_, file.label(), line, n_before);
    return;
  }
  auto fasta =
      std::make_unique<input::FastaSource>(*text_, file.label(), line, rules_.words, n_before);
  fasta->split_records(rules_.max_residues, overlap_);
  records_ = std::move(fasta);
}

// Whether a record of a chunk comes next. Goes on to the next chunk, or to the serial reader of
// what is left.
bool SequenceReader::Impl::has_chunk() {
  if (chunk_ != nullptr && in_chunk_ < chunk_->records.size()) return true;
  if (!chunks_ && !resume_chunks()) return false;
  in_chunk_ = 0;
  chunk_ = nullptr;  // also where next() throws
  chunk_ = chunks_->next();
  if (chunk_ != nullptr) return true;
  if (auto rest = chunks_->take_rest())
    start_serial(std::make_unique<input::TextWindow>(std::move(rest)), chunks_->line(),
                 n_before_chunks_ + chunks_->n_records());
  chunks_.reset();
  n_short_residues_ = 0;
  return false;
}

// Chunks again, once a serial reader has come from a long record to a chunk's worth of short ones:
// a file of long records alone is not tried again and again.
bool SequenceReader::Impl::resume_chunks() {
  if (!is_plain_ || n_threads_ < 2 || n_short_residues_ < rules_.chunk_bytes || in_record())
    return false;
  n_short_residues_ = 0;
  const std::uint64_t begin = file.begin() + file.bytes_read() - text_->size();
  if (file.file_bytes() <= begin + rules_.chunk_bytes) return false;
  rules_.first_line = records_->line();
  n_before_chunks_ = n_skipped_ + n_records;
  records_.reset();
  text_.reset();
  chunks_ = std::make_unique<input::RecordChunks>(file, begin, rules_, n_threads_);
  return true;
}

// Behind a record, or a piece of one, that a serial reader added to the batch.
void SequenceReader::Impl::note_serial_record(const SequenceBatch& batch, bool goes_on) {
  const std::size_t n = batch.sequence(batch.size() - 1).size();
  const bool is_long = goes_on || in_record() || n >= rules_.chunk_bytes;
  n_short_residues_ = is_long ? 0 : n_short_residues_ + n;
}

// To the first of the records wanted.
void SequenceReader::Impl::skip() {
  while (n_skipped_ < range.begin && has_chunk()) {
    const std::uint64_t n =
        std::min<std::uint64_t>(range.begin - n_skipped_, chunk_->records.size() - in_chunk_);
    in_chunk_ += static_cast<std::size_t>(n);
    n_skipped_ += n;
  }
  SequenceBatch passed;
  while (n_skipped_ < range.begin || in_record()) {
    const bool goes_on = in_record();
    passed.clear(n_skipped_ + 1);
    if (!records_ || !records_->next(passed)) break;
    if (!goes_on) ++n_skipped_;
  }
}

// Makes the batch a chunk's records, where it is all wanted.
bool SequenceReader::Impl::take_chunk(SequenceBatch& batch) {
  if (!has_chunk() || in_chunk_ > 0 || chunk_->records.size() > n_left()) return false;
  std::swap(batch, chunk_->records);
  batch.set_first_record(n_skipped_ + n_records + 1);
  in_chunk_ = SIZE_MAX;
  n_records += batch.size();
  return true;
}

bool SequenceReader::Impl::append_next(SequenceBatch& batch) {
  if (has_chunk()) {
    if (n_left() == 0) return false;
    batch.append_from(chunk_->records, in_chunk_++);
    ++n_records;
    return true;
  }
  const bool goes_on = in_record();
  if (!records_ || (!goes_on && n_left() == 0) || !records_->next(batch)) return false;
  note_serial_record(batch, goes_on);
  if (goes_on)
    n_residues -= overlap_;
  else
    ++n_records;
  return true;
}

bool SequenceReader::Impl::read(SequenceBatch& batch, const BatchLimits& limits, bool any) {
  start();
  if (n_skipped_ < range.begin) skip();
  if (!any || !take_chunk(batch)) {
    batch.clear(n_skipped_ + n_records + (in_record() ? 0 : 1));
    while (batch.empty() ||
           (batch.size() < limits.n_records && batch.n_residues() < limits.n_residues &&
            batch.n_bytes() < limits.n_bytes)) {
      if (!append_next(batch)) break;
    }
  }
  n_residues += batch.n_residues();
  return !batch.empty();
}

std::uint64_t SequenceReader::Impl::compressed_bytes() const {
  return hts_ != nullptr ? hts_->bytes_read() : file.bytes_read();
}

SequenceReader::SequenceReader(const std::string& path, int n_threads, bool words,
                               std::size_t chunk_bytes)
    : impl_(std::make_unique<Impl>(path, std::make_unique<input::RawFile>(path), n_threads, words,
                                   chunk_bytes)) {}
SequenceReader::SequenceReader(std::unique_ptr<input::RawFile> file, int n_threads)
    : impl_(std::make_unique<Impl>(file->label(), std::move(file), n_threads, false, kChunkBytes)) {
}
SequenceReader::~SequenceReader() = default;
SequenceReader::SequenceReader(SequenceReader&&) noexcept = default;
SequenceReader& SequenceReader::operator=(SequenceReader&&) noexcept = default;

void SequenceReader::select(const RecordRange& range) { impl_->range = range; }
void SequenceReader::split_records(std::uint64_t n, std::size_t overlap) {
  impl_->split_records(n, overlap);
}
bool SequenceReader::read(SequenceBatch& batch, const BatchLimits& limits) {
  return impl_->read(batch, limits, false);
}
bool SequenceReader::read_any(SequenceBatch& batch, const BatchLimits& limits) {
  return impl_->read(batch, limits, true);
}
bool SequenceReader::is_alignments() const { return impl_->is_alignments; }
const std::string& SequenceReader::path() const { return impl_->path; }
std::uint64_t SequenceReader::n_records() const { return impl_->n_records; }
std::uint64_t SequenceReader::n_residues() const { return impl_->n_residues; }
std::uint64_t SequenceReader::compressed_bytes() const { return impl_->compressed_bytes(); }
std::uint64_t SequenceReader::file_bytes() const { return impl_->file.file_bytes(); }

}  // namespace biogpu::io
