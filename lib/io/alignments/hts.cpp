#include "lib/io/alignments/hts.hpp"

#include <fmt/format.h>
#include <htslib/bgzf.h>
#include <htslib/hfile.h>
#include <htslib/hts_log.h>
#include <htslib/sam.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <system_error>

#include "lib/core/error.hpp"
#include "lib/io/alignments/packed_read.hpp"
#include "lib/io/hts_handles.hpp"
#include "lib/io/input/text_source.hpp"
#include "lib/io/input/warnings.hpp"

namespace biogpu::io::input {
namespace {

// htslib prints what it finds and, where REF_PATH is not set, asks a server for references it
// lacks; a library may do neither. Before main(), because other threads may read the environment
// later.
[[maybe_unused]] const bool kHtslibIsQuiet = [] {
  hts_set_log_level(HTS_LOG_OFF);
  return setenv("REF_PATH", "/nonexistent", /*overwrite=*/0) == 0;
}();

// A SAM line without header: eleven columns, of which the second is a number. What begins as FASTA
// or FASTQ does may have both in its description.
bool is_alignment_line(std::string_view line) {
  if (line.empty() || line[0] == '>' || line[0] == '@') return false;
  if (std::count(line.begin(), line.end(), '\t') < 10) return false;
  const std::size_t flag = line.find('\t') + 1;
  const std::string_view digits = line.substr(flag, line.find('\t', flag) - flag);
  return flag > 1 && !digits.empty() &&
         std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); });
}

}  // namespace

bool is_hts(std::string_view head) {
  if (head.substr(0, 4) == "CRAM") return true;
  for (const std::string_view line : {"@HD\t", "@SQ\t", "@RG\t", "@PG\t", "@CO\t"}) {
    if (head.substr(0, 4) == line) return true;
  }
  return is_alignment_line(head.substr(0, head.find('\n')));
}

class HtsSource::Impl {
 public:
  Impl(RawFile& raw, int n_threads);

  bool next(SequenceBatch& batch);
  std::uint64_t bytes_read() const;

 private:
  void check_end_marker();
  bool lacks_end_marker() const;
  [[noreturn]] void fail_decoding();
  [[noreturn]] void fail_cut_short() const;
  void throw_if_unreadable() const;

  const RawFile& raw_;
  std::string label_;
  int descriptor_;
  bool is_regular_;
  hFILE* stream_;  // owned by file_
  HtsFile file_;
  SamHeader header_;
  BamRecord alignment_;
  bool is_sam_ = false;
  std::uint64_t record_ = 0;  // read from the file, skipped ones included
  PackedReadAppender appender_;
};

HtsSource::Impl::Impl(RawFile& raw, int n_threads)
    : raw_(raw),
      label_(raw.label()),
      descriptor_(raw.descriptor()),
      is_regular_(raw.file_bytes() > 0),
      stream_(raw.release()) {
  file_.reset(hts_hopen(stream_, label_.c_str(), "r"));
  if (!file_) {
    hclose_abruptly(stream_);
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: is not a readable SAM or CRAM file", label_));
  }
  is_sam_ = hts_get_format(file_.get())->format == sam;
  if (is_regular_) check_end_marker();
  // SAM text stays on this thread: only so is the line number known.
  if (n_threads > 1 && !is_sam_) hts_set_threads(file_.get(), n_threads);
  header_.reset(sam_hdr_read(file_.get()));
  alignment_.reset(bam_init1());
  if (!alignment_) throw std::bad_alloc();
  if (!header_) {
    throw_if_unreadable();
    throw Error(ErrorCode::bad_input, fmt::format("{}: the header is malformed; expected that of a "
                                                  "SAM or CRAM file",
                                                  label_));
  }
}

void HtsSource::Impl::check_end_marker() {
  const int found = hts_check_EOF(file_.get());
  if (found == 0 && !is_sam_) fail_cut_short();
  throw_if_unreadable();
  if (found == 0) check_unmarked_text(label_);
}

// Known once the end was reached, and for BGZF alone: for pipes, which cannot be checked
// beforehand.
bool HtsSource::Impl::lacks_end_marker() const {
  return hts_get_format(file_.get())->compression == bgzf && file_->is_bgzf != 0 &&
         file_->fp.bgzf->no_eof_block != 0;
}

bool HtsSource::Impl::next(SequenceBatch& batch) {
  for (;;) {
    ++record_;
    const int status = sam_read1(file_.get(), header_.get(), alignment_.get());
    if (status == -1) {
      throw_if_unreadable();
      raw_.check_end(bytes_read());
      if (lacks_end_marker()) {
        if (!is_sam_) fail_cut_short();
        add_warning(fmt::format("{}: {}", label_, kNoEndMarker));
      }
      return false;
    }
    if (status < -1) fail_decoding();
    const bam1_t* record = alignment_.get();
    const PackedRead read{bam_get_qname(record), static_cast<std::size_t>(record->core.l_qseq),
                          bam_get_seq(record), bam_get_qual(record), record->core.flag};
    if (!read.is_primary()) continue;
    if (read.name.empty()) refuse_record(label_, record_, 0, "the name is empty");
    appender_.append(batch, read);
    return true;
  }
}

std::uint64_t HtsSource::Impl::bytes_read() const {
  const off_t position = lseek(descriptor_, 0, SEEK_CUR);
  return position < 0 ? 0 : static_cast<std::uint64_t>(position);
}

void HtsSource::Impl::fail_decoding() {
  throw_if_unreadable();
  if (is_sam_) {
    refuse_record(label_, record_, static_cast<std::uint64_t>(file_->lineno),
                  "malformed; expected the eleven columns of SAM, and a header that names the "
                  "target");
  }
  refuse_record(label_, record_, 0, "malformed or cut short");
}

void HtsSource::Impl::fail_cut_short() const {
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: ends without its end marker; the file may be cut short", label_));
}

void HtsSource::Impl::throw_if_unreadable() const {
  const int error = herrno(stream_);
  if (error == 0 || error == ESPIPE) return;
  if (error == ENOMEM) throw std::bad_alloc();
  throw Error(ErrorCode::failed, fmt::format("{}: cannot be read: {}", label_,
                                             std::generic_category().message(error)));
}

HtsSource::HtsSource(RawFile& raw, int n_threads) : impl_(std::make_unique<Impl>(raw, n_threads)) {}
HtsSource::~HtsSource() = default;
bool HtsSource::next(SequenceBatch& batch) { return impl_->next(batch); }
std::uint64_t HtsSource::bytes_read() const { return impl_->bytes_read(); }

}  // namespace biogpu::io::input
