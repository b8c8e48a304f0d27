#include "lib/io/alignments/sam_writer.hpp"

#include <fmt/format.h>

#include <optional>

#include "lib/core/error.hpp"
#include "lib/io/alignments/bam_output.hpp"
#include "lib/io/alignments/cram_output.hpp"
#include "lib/io/alignments/sam_text.hpp"
#include "lib/io/output/atomic_file.hpp"
#include "lib/io/output/bgzf_deflate.hpp"
#include "lib/io/output/suffix.hpp"

namespace biogpu::io {
namespace {
constexpr std::size_t kTextBytes = 256u << 10;
}

// SAM text is formatted here and not by htslib, whose records hold nucleotides in upper case only:
// residues of proteins and lower case would be lost.
class SamWriter::Impl {
 public:
  Impl(const std::string& path, output::Targets targets, const std::string& program_line,
       int n_threads, const SamLetters& letters)
      : letters_(letters), file_(path) {
    list_targets(targets);
    const std::string header = output::sam_header(file_.label(), targets, program_line);
    const Suffix suffix = suffix_of(path);
    if (suffix.format == "bam") {
      bam_.emplace(file_, header, targets_, letters_, n_threads);
      return;
    }
    if (suffix.format == "cram") {
      cram_.emplace(file_, header, targets_, letters_, n_threads);
      return;
    }
    if (suffix.is_compressed) bgzf_.emplace(file_, n_threads);
    text_ = header;
  }

  void write(SamRecord record) {
    output::check_query_name(file_.label(), record.query_name);
    if (record.target_id >= 0) record.target_id = listed_target(record.target_id);
    if (bam_) {
      bam_->write(record);
    } else if (cram_) {
      cram_->write(record);
    } else {
      output::append_sam_line(text_, record, targets_, letters_);
      if (text_.size() >= kTextBytes) flush();
    }
    ++n_records;
  }

  void commit() {
    if (bam_) bam_->finish();
    if (cram_) cram_->finish();
    flush();
    if (bgzf_) bgzf_->finish();
    file_.commit();
  }

  std::uint64_t n_records = 0;

 private:
  void list_targets(output::Targets targets) {
    ids_.reserve(targets.size());
    for (const auto& target : targets) {
      const bool is_listed = target.second > 0;
      ids_.push_back(is_listed ? static_cast<std::int32_t>(targets_.size()) : -1);
      if (is_listed) targets_.push_back(target);
    }
  }

  // Its place in the header.
  std::int32_t listed_target(std::int32_t target) const {
    const auto i = static_cast<std::size_t>(target);
    if (i < ids_.size() && ids_[i] >= 0) return ids_[i];
    throw Error(ErrorCode::failed, fmt::format("{}: target {} of {} in a record; this is a defect",
                                               file_.label(), target, ids_.size()));
  }

  void flush() {
    if (bgzf_) {
      bgzf_->write(text_);
    } else {
      file_.write(text_);
    }
    text_.clear();
  }

  const output::SeqLetters letters_;
  std::vector<std::pair<std::string, std::uint64_t>> targets_;  // those of the header
  std::vector<std::int32_t> ids_;  // of each target given: its place in the header, -1 for none
  output::AtomicFile file_;
  std::optional<output::BgzfDeflate> bgzf_;
  std::optional<output::BamOutput> bam_;
  std::optional<output::CramOutput> cram_;
  std::string text_;
};

SamWriter::SamWriter(const std::string& path,
                     std::span<const std::pair<std::string, std::uint64_t>> targets,
                     const std::string& program_line, int n_threads, const SamLetters& letters)
    : impl_(std::make_unique<Impl>(path, targets, program_line, n_threads, letters)) {}
SamWriter::~SamWriter() = default;
SamWriter::SamWriter(SamWriter&&) noexcept = default;
SamWriter& SamWriter::operator=(SamWriter&&) noexcept = default;

void SamWriter::write(const SamRecord& record) { impl_->write(record); }
void SamWriter::commit() { impl_->commit(); }
std::uint64_t SamWriter::n_records() const { return impl_->n_records; }

}  // namespace biogpu::io
