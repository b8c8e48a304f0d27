#include "lib/io/sam_writer.hpp"

#include <fmt/format.h>

#include <optional>

#include "lib/core/error.hpp"
#include "lib/io/output/bam_output.hpp"
#include "lib/io/output/bgzf_deflate.hpp"
#include "lib/io/output/cram_output.hpp"
#include "lib/io/output/sam_text.hpp"
#include "lib/io/output/target_file.hpp"

namespace biogpu::io {
namespace {
constexpr std::size_t kTextBytes = 256u << 10;
}

// SAM text is formatted here and not by htslib, whose records hold nucleotides in upper case only:
// residues of proteins and lower case would be lost.
class SamWriter::Impl {
 public:
  Impl(const std::string& path, output::Targets targets, const std::string& program_line,
       int n_threads)
      : targets_(targets.begin(), targets.end()), file_(path) {
    const std::string header = output::sam_header(file_.label(), targets_, program_line);
    if (path.ends_with(".bam")) {
      bam_.emplace(file_, header, targets_, n_threads);
      return;
    }
    if (path.ends_with(".cram")) {
      cram_.emplace(file_, header, targets_, n_threads);
      return;
    }
    if (path.ends_with(".gz")) bgzf_.emplace(file_, n_threads);
    text_ = header;
  }

  void write(const SamRecord& record) {
    output::check_query_name(file_.label(), record.query_name);
    check_target(record);
    if (bam_) {
      bam_->write(record);
    } else if (cram_) {
      cram_->write(record);
    } else {
      output::append_sam_line(text_, record, targets_);
      if (text_.size() >= kTextBytes) flush();
    }
    ++n_records;
  }

  void commit() {
    if (bam_) bam_->finish();
    if (cram_) cram_->finish();
    flush();
    if (bgzf_) bgzf_->finish();
    file_.publish();
  }

  std::uint64_t n_records = 0;

 private:
  void check_target(const SamRecord& record) const {
    if (record.target_id < static_cast<std::int64_t>(targets_.size())) return;
    throw Error(ErrorCode::failed, fmt::format("{}: target {} of {} in a record; this is a defect",
                                               file_.label(), record.target_id, targets_.size()));
  }

  void flush() {
    if (bgzf_) {
      bgzf_->write(text_);
    } else {
      file_.write(text_);
    }
    text_.clear();
  }

  std::vector<std::pair<std::string, std::uint64_t>> targets_;
  output::TargetFile file_;
  std::optional<output::BgzfDeflate> bgzf_;
  std::optional<output::BamOutput> bam_;
  std::optional<output::CramOutput> cram_;
  std::string text_;
};

SamWriter::SamWriter(const std::string& path,
                     std::span<const std::pair<std::string, std::uint64_t>> targets,
                     const std::string& program_line, int n_threads)
    : impl_(std::make_unique<Impl>(path, targets, program_line, n_threads)) {}
SamWriter::~SamWriter() = default;
SamWriter::SamWriter(SamWriter&&) noexcept = default;
SamWriter& SamWriter::operator=(SamWriter&&) noexcept = default;

void SamWriter::write(const SamRecord& record) { impl_->write(record); }
void SamWriter::commit() { impl_->commit(); }
std::uint64_t SamWriter::n_records() const { return impl_->n_records; }

}  // namespace biogpu::io
