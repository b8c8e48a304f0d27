#include "lib/io/input/hts.hpp"

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
#include <mutex>
#include <new>
#include <system_error>

#include "lib/core/error.hpp"

namespace biogpu::io::input {
namespace {

// htslib prints what it finds and asks a server for references it lacks; a library may do neither.
void make_htslib_quiet() {
  static std::once_flag once;
  std::call_once(once, [] {
    hts_set_log_level(HTS_LOG_OFF);
    setenv("REF_PATH", "/nonexistent", /*overwrite=*/0);
  });
}

// A SAM line without header: eleven columns, of which the second is a number.
bool is_alignment_line(std::string_view line) {
  if (std::count(line.begin(), line.end(), '\t') < 10) return false;
  const std::size_t flag = line.find('\t') + 1;
  const std::string_view digits = line.substr(flag, line.find('\t', flag) - flag);
  return flag > 1 && !digits.empty() &&
         std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); });
}

char complement(char base) {
  constexpr std::string_view kFrom = "ACGTMRWSYKVHDBN=";
  constexpr std::string_view kTo = "TGCAKYWSRMBDHVN=";
  const std::size_t at = kFrom.find(base);
  return at == std::string_view::npos ? 'N' : kTo[at];
}

}  // namespace

bool is_hts(std::string_view head) {
  if (head.substr(0, 4) == std::string_view("BAM\1", 4)) return true;
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
  struct Close {
    void operator()(htsFile* file) const { hts_close(file); }
    void operator()(sam_hdr_t* header) const { sam_hdr_destroy(header); }
    void operator()(bam1_t* alignment) const { bam_destroy1(alignment); }
  };

  void check_end_marker();
  bool lacks_end_marker() const;
  void append(SequenceBatch& batch);
  [[noreturn]] void fail_decoding();
  [[noreturn]] void fail_cut_short() const;
  void throw_if_unreadable() const;

  std::string label_;
  int descriptor_;
  bool is_regular_;
  hFILE* stream_;  // owned by file_
  std::unique_ptr<htsFile, Close> file_;
  std::unique_ptr<sam_hdr_t, Close> header_;
  std::unique_ptr<bam1_t, Close> alignment_;
  bool is_sam_ = false;
  std::uint64_t record_ = 0;  // read from the file, skipped ones included
  std::string sequence_;
  std::string quality_;
};

HtsSource::Impl::Impl(RawFile& raw, int n_threads)
    : label_(raw.label()),
      descriptor_(raw.descriptor()),
      is_regular_(raw.file_bytes() > 0),
      stream_(raw.release()) {
  make_htslib_quiet();
  file_.reset(hts_hopen(stream_, label_.c_str(), "r"));
  if (!file_) {
    hclose_abruptly(stream_);
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: is not a readable SAM, BAM or CRAM file", label_));
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
                                                  "SAM, BAM or CRAM file",
                                                  label_));
  }
}

void HtsSource::Impl::check_end_marker() {
  const int found = hts_check_EOF(file_.get());
  if (found == 0) fail_cut_short();
  throw_if_unreadable();
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
      if (lacks_end_marker()) fail_cut_short();
      return false;
    }
    if (status < -1) fail_decoding();
    if ((alignment_->core.flag & (BAM_FSECONDARY | BAM_FSUPPLEMENTARY)) == 0) break;
  }
  append(batch);
  return true;
}

void HtsSource::Impl::append(SequenceBatch& batch) {
  const bam1_t* read = alignment_.get();
  const auto n = static_cast<std::size_t>(read->core.l_qseq);
  sequence_.resize(n);
  quality_.resize(n);
  const std::uint8_t* packed = bam_get_seq(read);
  const std::uint8_t* phred = bam_get_qual(read);
  for (std::size_t i = 0; i < n; ++i) {
    sequence_[i] = seq_nt16_str[bam_seqi(packed, i)];
    quality_[i] = static_cast<char>(std::min<int>(phred[i], '~' - '!') + '!');
  }
  if (bam_is_rev(read)) {
    std::reverse(sequence_.begin(), sequence_.end());
    std::reverse(quality_.begin(), quality_.end());
    std::transform(sequence_.begin(), sequence_.end(), sequence_.begin(), complement);
  }
  const bool has_quality = n == 0 || phred[0] != 0xff;  // 0xff: quality "*"
  const std::string_view name = bam_get_qname(read);
  if (name.empty()) refuse_record(label_, record_, 0, "the name is empty");
  batch.append(name, {}, sequence_, quality_, has_quality);
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
