#include "lib/io/output_file.hpp"

#include <optional>

#include "lib/io/char_buffer.hpp"
#include "lib/io/output/atomic_file.hpp"
#include "lib/io/output/bgzf_deflate.hpp"
#include "lib/io/output/suffix.hpp"
#include "lib/io/output/temp_registry.hpp"

namespace biogpu::io {
namespace {
constexpr std::size_t kBufferBytes = 256u << 10;
}

class OutputFile::Impl {
 public:
  Impl(const std::string& where, int n_threads) : path(where), file_(where) {
    if (is_gzip_name(path)) bgzf_.emplace(file_, n_threads);
  }

  void write(std::string_view text) {
    bytes += text.size();
    if (bgzf_) {
      bgzf_->write(text);
      return;
    }
    if (buffer_.size() + text.size() > kBufferBytes) flush();
    if (text.size() >= kBufferBytes) {
      file_.write(text);
    } else {
      buffer_.append(text.data(), text.size());
    }
  }

  bool takes_offsets() const { return !bgzf_ && file_.is_regular(); }

  std::uint64_t reserve(std::uint64_t n) {
    flush();
    const std::uint64_t begin = bytes;
    bytes += n;
    file_.seek(bytes);
    return begin;
  }

  void write_at(std::uint64_t offset, std::string_view text) { file_.write_at(offset, text); }

  void flush() {
    file_.write(buffer_.view());
    buffer_.clear();
  }

  void finish() {
    if (finished_) return;
    flush();
    if (bgzf_) bgzf_->finish();
    file_.finish();
    finished_ = true;
  }

  void commit() {
    finish();
    file_.commit();
  }

  std::string path;
  std::uint64_t bytes = 0;

 private:
  output::AtomicFile file_;
  std::optional<output::BgzfDeflate> bgzf_;  // after file: its threads end first
  CharBuffer buffer_;
  bool finished_ = false;
};

OutputFile::OutputFile(const std::string& path, int n_threads)
    : impl_(std::make_unique<Impl>(path, n_threads)) {}
OutputFile::~OutputFile() = default;
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;

void OutputFile::write(std::string_view bytes) { impl_->write(bytes); }
bool OutputFile::takes_offsets() const { return impl_->takes_offsets(); }
std::uint64_t OutputFile::reserve(std::uint64_t n) { return impl_->reserve(n); }
void OutputFile::write_at(std::uint64_t offset, std::string_view bytes) {
  impl_->write_at(offset, bytes);
}
void OutputFile::flush() { impl_->flush(); }
void OutputFile::finish() { impl_->finish(); }
void OutputFile::commit() { impl_->commit(); }
const std::string& OutputFile::path() const { return impl_->path; }
std::uint64_t OutputFile::bytes() const { return impl_->bytes; }

void remove_unfinished_outputs() noexcept { output::remove_registered_files(); }

}  // namespace biogpu::io
