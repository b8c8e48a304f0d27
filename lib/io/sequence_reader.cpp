#include "lib/io/sequence_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "lib/core/error.hpp"
#include "lib/io/input/bam.hpp"
#include "lib/io/input/compression.hpp"
#include "lib/io/input/fasta.hpp"
#include "lib/io/input/fastq.hpp"
#include "lib/io/input/gzip.hpp"
#include "lib/io/input/hts.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/io/input/text_source.hpp"
#include "lib/io/input/text_window.hpp"

namespace biogpu::io {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf"sv;

// Skips a byte order mark and blank lines. Returns the number of the line that follows.
std::uint64_t skip_to_first_record(input::TextWindow& text) {
  std::uint64_t line = 1;
  if (!text.has_text()) return line;
  if (std::string_view(text.begin(), text.size()).substr(0, kUtf8Mark.size()) == kUtf8Mark) {
    text.skip_to(text.begin() + kUtf8Mark.size());
  }
  while (text.has_text() && " \t\r\n"sv.find(*text.begin()) != std::string_view::npos) {
    line += *text.begin() == '\n' ? 1 : 0;
    text.skip_to(text.begin() + 1);
  }
  return line;
}

}  // namespace

class SequenceReader::Impl {
 public:
  Impl(const std::string& where, int n_threads, bool words);

  bool read(SequenceBatch& batch, const BatchLimits& limits);
  std::uint64_t compressed_bytes() const;

  std::string path;
  input::RawFile file;
  std::uint64_t n_records = 0;
  std::uint64_t n_residues = 0;
  RecordRange range;

  void split_records(std::uint64_t n, std::size_t overlap) {
    if (fasta_ == nullptr) return;
    fasta_->split_records(n, overlap);
    overlap_ = overlap;
  }

 private:
  void open_records(std::uint64_t line);
  void skip();
  bool in_record() const { return records_ && records_->in_record(); }

  const bool words_;
  std::uint64_t n_skipped_ = 0;                   // records before the range
  std::unique_ptr<input::TextWindow> text_;       // none for SAM and CRAM
  input::HtsSource* hts_ = nullptr;               // records_ where it is one
  input::FastaSource* fasta_ = nullptr;           // the same
  std::size_t overlap_ = 0;                       // of the pieces of its records
  std::unique_ptr<input::RecordSource> records_;  // none for an empty file
};

SequenceReader::Impl::Impl(const std::string& where, int n_threads, bool words)
    : path(where), file(where), words_(words) {
  const std::string head = file.peek(input::RawFile::kMaxPeek);
  const bool is_gzip = std::string_view(head).starts_with(input::kGzipMagic);
  const std::string text = is_gzip ? input::inflate_head(head, input::RawFile::kMaxPeek) : head;
  if (input::is_bam(text)) {
    text_ = std::make_unique<input::TextWindow>(input::open_text(file, head, n_threads));
    records_ = std::make_unique<input::BamSource>(*text_, file.label());
    return;
  }
  if (input::is_hts(text)) {
    auto hts = std::make_unique<input::HtsSource>(file, n_threads);
    hts_ = hts.get();
    records_ = std::move(hts);
    return;
  }
  input::refuse_compression(head, file.label());
  text_ = std::make_unique<input::TextWindow>(input::open_text(file, head, n_threads));
  open_records(skip_to_first_record(*text_));
}

void SequenceReader::Impl::open_records(std::uint64_t line) {
  if (!text_->has_text()) return;
  const char first = *text_->begin();
  if (first == '>') {
    auto fasta = std::make_unique<input::FastaSource>(*text_, file.label(), line, words_);
    fasta_ = fasta.get();
    records_ = std::move(fasta);
  } else if (first == '@') {
    records_ = std::make_unique<input::FastqSource>(*text_, file.label(), line);
  } else {
    input::refuse_record(
        file.label(), 1, line,
        fmt::format("{} begins the file; expected '>' (FASTA), '@' (FASTQ), or SAM, "
                    "BAM or CRAM",
                    input::show_byte(first)));
  }
}

// To the first of the records wanted.
void SequenceReader::Impl::skip() {
  SequenceBatch passed;
  while (n_skipped_ < range.begin || in_record()) {
    const bool goes_on = in_record();
    passed.clear(n_skipped_ + 1);
    if (!records_ || !records_->next(passed)) break;
    if (!goes_on) ++n_skipped_;
  }
}

bool SequenceReader::Impl::read(SequenceBatch& batch, const BatchLimits& limits) {
  if (n_skipped_ < range.begin) skip();
  batch.clear(n_skipped_ + n_records + (in_record() ? 0 : 1));
  while (records_ && (batch.empty() ||
                      (batch.size() < limits.n_records && batch.n_residues() < limits.n_residues &&
                       batch.n_bytes() < limits.n_bytes))) {
    const bool goes_on = in_record();
    if (!goes_on && n_skipped_ + n_records >= range.end) break;
    if (!records_->next(batch)) break;
    if (goes_on)
      n_residues -= overlap_;
    else
      ++n_records;
  }
  n_residues += batch.n_residues();
  return !batch.empty();
}

std::uint64_t SequenceReader::Impl::compressed_bytes() const {
  return hts_ != nullptr ? hts_->bytes_read() : file.bytes_read();
}

SequenceReader::SequenceReader(const std::string& path, int n_threads, bool words)
    : impl_(std::make_unique<Impl>(path, n_threads, words)) {}
SequenceReader::~SequenceReader() = default;
SequenceReader::SequenceReader(SequenceReader&&) noexcept = default;
SequenceReader& SequenceReader::operator=(SequenceReader&&) noexcept = default;

void SequenceReader::select(const RecordRange& range) { impl_->range = range; }
void SequenceReader::split_records(std::uint64_t n, std::size_t overlap) {
  impl_->split_records(n, overlap);
}
bool SequenceReader::read(SequenceBatch& batch, const BatchLimits& limits) {
  return impl_->read(batch, limits);
}
const std::string& SequenceReader::path() const { return impl_->path; }
std::uint64_t SequenceReader::n_records() const { return impl_->n_records; }
std::uint64_t SequenceReader::n_residues() const { return impl_->n_residues; }
std::uint64_t SequenceReader::compressed_bytes() const { return impl_->compressed_bytes(); }
std::uint64_t SequenceReader::file_bytes() const { return impl_->file.file_bytes(); }

}  // namespace biogpu::io
