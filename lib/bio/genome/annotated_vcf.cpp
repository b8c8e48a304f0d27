#include "lib/bio/genome/annotated_vcf.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <htslib/hfile.h>
#include <htslib/hts_log.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <new>
#include <utility>

#include "lib/bio/genome/vcf/vcf_input.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/output/atomic_file.hpp"
#include "lib/io/output/suffix.hpp"

namespace biogpu::genome {
namespace {

const char* mode_of(const std::string& path) {
  const io::Suffix suffix = io::suffix_of(path);
  if (suffix.format == "bcf") return "wb";
  return suffix.is_compressed ? "wz" : "w";
}

// In quotes of a header line.
std::string escape_description(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

// The header of the output.
std::shared_ptr<bcf_hdr_t> define_fields(VariantReader& reader,
                                         const std::vector<InfoField>& fields) {
  for (const InfoField& field : fields)
    reader.define_info(
        field.id, fmt::format("##INFO=<ID={},Number={},Type=Float,Description=\"{}\">", field.id,
                              field.number, escape_description(field.description)));
  return reader.copy_header();
}

}  // namespace

class AnnotatedVcfWriter::Impl {
 public:
  Impl(const std::string& path, VariantReader& reader, std::vector<InfoField> fields)
      : input_(reader.label()),
        fields_(std::move(fields)),
        header_(define_fields(reader, fields_)),
        is_bcf_(mode_of(path) == std::string_view("wb")),
        target_(path) {
    hts_set_log_level(HTS_LOG_OFF);
    open(mode_of(path));
    if (bcf_hdr_write(file_.get(), header_.get()) != 0) fail(errno);
  }
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void write(const Variant& variant, std::span<const std::vector<float>> values);
  void finish();
  void commit() {
    finish();
    target_.commit();
  }

 private:
  void add_definitions(const Variant& variant);
  void open(const char* mode);
  [[noreturn]] void fail(int error) const;

  const std::string input_;
  const std::vector<InfoField> fields_;
  const std::shared_ptr<bcf_hdr_t> header_;  // numbers all names as the reader's does
  const bool is_bcf_;
  io::output::AtomicFile target_;
  int descriptor_ = -1;
  hFILE* stream_ = nullptr;  // owned by file_
  io::HtsFile file_;
  bool finished_ = false;
};

void AnnotatedVcfWriter::Impl::open(const char* mode) {
  stream_ = hdopen(target_.descriptor(), "w");
  if (stream_ == nullptr) throw std::bad_alloc();
  descriptor_ = target_.release_descriptor();
  file_.reset(hts_hopen(stream_, target_.label().c_str(), mode));
  if (!file_) {
    hclose_abruptly(stream_);
    throw std::bad_alloc();
  }
}

// Not finished: what htslib still holds, and the end marker that it adds, must not reach a pipe's
// reader, who would take the file for whole.
AnnotatedVcfWriter::Impl::~Impl() {
  if (!file_) return;
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  dup2(nowhere, descriptor_);
  close(nowhere);
}

// In the order in which the reader's header got them: only so do both number names alike.
void AnnotatedVcfWriter::Impl::add_definitions(const Variant& variant) {
  for (const auto& [name, line] : variant.missing_definitions) {
    if (is_bcf_)
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: record {}: the header does not define {}, which BCF needs; "
                              "define it there, or write .vcf",
                              input_, variant.record, shortened(name)));
    if (bcf_hdr_append(header_.get(), line.c_str()) != 0)
      throw Error(ErrorCode::bad_input, fmt::format("{}: record {}: {} cannot be written", input_,
                                                    variant.record, shortened(name)));
  }
  if (!variant.missing_definitions.empty() && bcf_hdr_sync(header_.get()) < 0)
    throw std::bad_alloc();
}

void AnnotatedVcfWriter::Impl::write(const Variant& variant,
                                     std::span<const std::vector<float>> values) {
  add_definitions(variant);
  bcf1_t* const record = variant.source.get();
  std::vector<float> numbers;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].empty()) continue;
    numbers = values[i];
    for (float& number : numbers)
      if (std::isnan(number)) bcf_float_set_missing(number);
    if (bcf_update_info_float(header_.get(), record, fields_[i].id.c_str(), numbers.data(),
                              static_cast<int>(numbers.size())) < 0)
      throw Error(ErrorCode::bad_input, fmt::format("{}: record {}: INFO/{} cannot be added",
                                                    input_, variant.record, fields_[i].id));
  }
  errno = 0;
  if (bcf_write(file_.get(), header_.get(), record) == 0) return;
  if (errno != ENOMEM && herrno(stream_) == 0)  // nothing is wrong with the output
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: record {}: does not fit its header, with {} samples, or has "
                            "numbers that VCF cannot hold",
                            input_, variant.record, bcf_hdr_nsamples(header_.get())));
  fail(errno);
}

void AnnotatedVcfWriter::Impl::finish() {
  if (finished_) return;
  errno = 0;
  if (herrno(stream_) != 0) fail(errno);
  if (hts_close(file_.release()) != 0) target_.fail("cannot be written", errno != 0 ? errno : EIO);
  target_.finish();
  finished_ = true;
}

void AnnotatedVcfWriter::Impl::fail(int error) const {
  if (file_ && herrno(stream_) != 0) error = herrno(stream_);
  target_.fail("cannot be written", error != 0 ? error : EIO);
}

AnnotatedVcfWriter::AnnotatedVcfWriter(const std::string& path, VariantReader& reader,
                                       std::vector<InfoField> fields)
    : impl_(std::make_unique<Impl>(path, reader, std::move(fields))) {}
AnnotatedVcfWriter::~AnnotatedVcfWriter() = default;
AnnotatedVcfWriter::AnnotatedVcfWriter(AnnotatedVcfWriter&&) noexcept = default;
AnnotatedVcfWriter& AnnotatedVcfWriter::operator=(AnnotatedVcfWriter&&) noexcept = default;
void AnnotatedVcfWriter::write(const Variant& variant, std::span<const std::vector<float>> values) {
  impl_->write(variant, values);
}
void AnnotatedVcfWriter::finish() { impl_->finish(); }
void AnnotatedVcfWriter::commit() { impl_->commit(); }

}  // namespace biogpu::genome
