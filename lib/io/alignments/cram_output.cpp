#include "lib/io/alignments/cram_output.hpp"

#include <fcntl.h>
#include <htslib/hfile.h>
#include <htslib/hts_log.h>
#include <htslib/sam.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "lib/io/alignments/alignment.hpp"
#include "lib/io/hts_handles.hpp"

namespace biogpu::io::output {
class CramOutput::Impl {
 public:
  Impl(AtomicFile& file, const std::string& header, const SeqLetters& letters, int n_threads);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void write(const SamRecord& record);
  void finish();

 private:
  // What went wrong in htslib: its stream's error where a write failed, else errno.
  [[noreturn]] void fail(int error) const;

  AtomicFile& target_;
  AlignmentMaker maker_;
  int descriptor_ = -1;
  hFILE* stream_ = nullptr;  // owned by file_
  HtsFile file_;
  SamHeader header_;
};

CramOutput::Impl::Impl(AtomicFile& target, const std::string& header, const SeqLetters& letters,
                       int n_threads)
    : target_(target), maker_(letters), header_(sam_hdr_init()) {
  hts_set_log_level(HTS_LOG_OFF);
  if (!header_) throw std::bad_alloc();
  if (sam_hdr_add_lines(header_.get(), header.data(), header.size()) != 0) fail(errno);
  stream_ = hdopen(target.descriptor(), "w");
  if (stream_ == nullptr) throw std::bad_alloc();
  descriptor_ = target.release_descriptor();
  file_.reset(hts_hopen(stream_, target.label().c_str(), "wc"));
  if (!file_) {
    hclose_abruptly(stream_);
    throw std::bad_alloc();
  }
  if (hts_set_opt(file_.get(), CRAM_OPT_NO_REF, 1) != 0) fail(EINVAL);
  if (n_threads > 1) hts_set_threads(file_.get(), n_threads);
  if (sam_hdr_write(file_.get(), header_.get()) != 0) fail(errno);
}

// Not finished: what htslib still holds, and the end marker that it adds, must not reach a pipe's
// reader, who would take the file for whole.
CramOutput::Impl::~Impl() {
  if (!file_) return;
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  dup2(nowhere, descriptor_);
  close(nowhere);
}

void CramOutput::Impl::write(const SamRecord& record) {
  const bam1_t& alignment = maker_.make(target_, record);
  errno = 0;
  if (sam_write1(file_.get(), header_.get(), &alignment) < 0) fail(errno);
}

void CramOutput::Impl::finish() {
  // No hts_flush() before: htslib 1.16 fails when a flushed CRAM file is closed.
  errno = 0;
  if (herrno(stream_) != 0) fail(errno);
  if (hts_close(file_.release()) != 0) target_.fail("cannot be written", errno != 0 ? errno : EIO);
}

void CramOutput::Impl::fail(int error) const {
  if (file_ && herrno(stream_) != 0) error = herrno(stream_);
  target_.fail("cannot be written", error != 0 ? error : EIO);
}

CramOutput::CramOutput(AtomicFile& file, const std::string& header, Targets targets,
                       const SeqLetters& letters, int n_threads) {
  check_target_lengths(file.label(), targets);
  impl_ = std::make_unique<Impl>(file, header, letters, n_threads);
}
CramOutput::~CramOutput() = default;
void CramOutput::write(const SamRecord& record) { impl_->write(record); }
void CramOutput::finish() { impl_->finish(); }

}  // namespace biogpu::io::output
