#include "lib/io/output/hts_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <htslib/hfile.h>
#include <htslib/hts_log.h>
#include <htslib/sam.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>

#include "lib/core/error.hpp"

namespace biogpu::io::output {
namespace {

struct Close {
  void operator()(htsFile* file) const { hts_close(file); }
  void operator()(sam_hdr_t* header) const { sam_hdr_destroy(header); }
  void operator()(bam1_t* alignment) const { bam_destroy1(alignment); }
};

void check_lengths(const std::string& label, Targets targets) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int32_t>::max();
  for (const auto& [name, length] : targets) {
    if (length <= kMax) continue;
    throw Error(
        ErrorCode::bad_input,
        fmt::format("{}: target '{}' has {} residues, BAM and CRAM hold at most {}; write SAM",
                    label, name, length, kMax));
  }
}

}  // namespace

class HtsOutput::Impl {
 public:
  Impl(TargetFile& file, bool cram, const std::string& header, int n_threads);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void write(const SamRecord& record);
  void finish();

 private:
  // What went wrong in htslib: its stream's error where a write failed, else errno.
  [[noreturn]] void fail(int error) const;

  TargetFile& target_;
  int descriptor_ = -1;
  hFILE* stream_ = nullptr;  // owned by file_
  std::unique_ptr<htsFile, Close> file_;
  std::unique_ptr<sam_hdr_t, Close> header_;
  std::unique_ptr<bam1_t, Close> alignment_;
  std::string phred_;
};

HtsOutput::Impl::Impl(TargetFile& target, bool cram, const std::string& header, int n_threads)
    : target_(target), header_(sam_hdr_init()), alignment_(bam_init1()) {
  hts_set_log_level(HTS_LOG_OFF);
  if (!header_ || !alignment_) throw std::bad_alloc();
  if (sam_hdr_add_lines(header_.get(), header.data(), header.size()) != 0) fail(EINVAL);
  stream_ = hdopen(target.descriptor(), "w");
  if (stream_ == nullptr) throw std::bad_alloc();
  descriptor_ = target.release_descriptor();
  file_.reset(hts_hopen(stream_, target.label().c_str(), cram ? "wc" : "wb"));
  if (!file_) {
    hclose_abruptly(stream_);
    throw std::bad_alloc();
  }
  if (cram && hts_set_opt(file_.get(), CRAM_OPT_NO_REF, 1) != 0) fail(EINVAL);
  if (n_threads > 1) hts_set_threads(file_.get(), n_threads);
  if (sam_hdr_write(file_.get(), header_.get()) != 0) fail(errno);
}

// Not finished: what htslib still holds, and the end marker that it adds, must not reach a pipe's
// reader, who would take the file for whole.
HtsOutput::Impl::~Impl() {
  if (!file_) return;
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  dup2(nowhere, descriptor_);
  close(nowhere);
}

void HtsOutput::Impl::write(const SamRecord& record) {
  phred_.assign(record.quality);
  std::transform(phred_.begin(), phred_.end(), phred_.begin(),
                 [](char c) { return static_cast<char>(c - '!'); });
  const bool has_quality = !phred_.empty() && phred_.size() == record.sequence.size();
  constexpr std::size_t kTagBytes = 2 * (2 + 1 + sizeof(std::int32_t));  // name, type, number
  // bam_set1() refuses an aligned record without a path, which --output score or ends gives.
  const auto flag =
      static_cast<std::uint16_t>(record.flag | (record.cigar.empty() ? BAM_FUNMAP : 0));
  errno = 0;
  const int size =
      bam_set1(alignment_.get(), record.query_name.size(), record.query_name.data(), flag,
               record.target_id, record.target_begin, record.mapq, record.cigar.size(),
               record.cigar.data(), -1, -1, 0, record.sequence.size(), record.sequence.data(),
               has_quality ? phred_.data() : nullptr, kTagBytes);
  if (size < 0) fail(errno);
  alignment_->core.flag = record.flag;
  bool failed = bam_aux_update_int(alignment_.get(), "AS", record.score) != 0;
  if (record.edit_distance >= 0) {
    failed |= bam_aux_update_int(alignment_.get(), "NM", record.edit_distance) != 0;
  }
  if (failed || sam_write1(file_.get(), header_.get(), alignment_.get()) < 0) fail(errno);
}

void HtsOutput::Impl::finish() {
  errno = 0;
  // BAM is written by a thread, whose failure is known to the stream alone: ask before it is
  // closed. CRAM is written by this one, and htslib 1.16 fails when a flushed CRAM file is closed.
  const bool is_bam = hts_get_format(file_.get())->format == bam;
  if (is_bam && hts_flush(file_.get()) != 0) fail(errno);
  if (herrno(stream_) != 0) fail(errno);
  if (hts_close(file_.release()) != 0) target_.fail("cannot be written", errno != 0 ? errno : EIO);
}

void HtsOutput::Impl::fail(int error) const {
  if (stream_ != nullptr && file_ && herrno(stream_) != 0) error = herrno(stream_);
  target_.fail("cannot be written", error != 0 ? error : EIO);
}

HtsOutput::HtsOutput(TargetFile& file, bool cram, const std::string& header, Targets targets,
                     int n_threads) {
  check_lengths(file.label(), targets);
  impl_ = std::make_unique<Impl>(file, cram, header, n_threads);
}
HtsOutput::~HtsOutput() = default;
void HtsOutput::write(const SamRecord& record) { impl_->write(record); }
void HtsOutput::finish() { impl_->finish(); }

}  // namespace biogpu::io::output
