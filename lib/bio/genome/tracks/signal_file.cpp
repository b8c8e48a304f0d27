#include "lib/bio/genome/tracks/signal_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <string_view>

#include "lib/bio/genome/tracks/bigwig.hpp"
#include "lib/core/error.hpp"
#include "lib/io/output/atomic_file.hpp"
#include "lib/io/output/suffix.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::genome {
namespace {

enum class SignalFormat { none, bigwig, bedgraph };

SignalFormat format_of(const std::string& path) {
  if (path == "-") return SignalFormat::bedgraph;
  const io::Suffix suffix = io::suffix_of(path);
  if (suffix.format == "bw") return SignalFormat::bigwig;
  return suffix.format == "bedgraph" ? SignalFormat::bedgraph : SignalFormat::none;
}

void write_bedgraph(io::OutputFile& file, std::span<const Contig> contigs,
                    std::span<const SignalRun> runs) {
  fmt::memory_buffer text;
  for (const SignalRun& run : runs) {
    std::int64_t at = run.begin;
    for (const float value : run.values) {
      fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}\n", contigs[run.contig].name, at,
                     at + run.bin, value);
      at += run.bin;
    }
    file.write({text.data(), text.size()});
    text.clear();
  }
}

std::uint64_t size_of(const io::output::AtomicFile& file) {
  struct stat status {};
  if (fstat(file.descriptor(), &status) != 0) file.fail("cannot be written", errno);
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

bool is_signal_path(const std::string& path) {
  return path != "-" && format_of(path) != SignalFormat::none;
}

class SignalFile::Impl {
 public:
  explicit Impl(const std::string& path) {
    const SignalFormat format = format_of(path);
    if (format == SignalFormat::none)
      throw Error(ErrorCode::usage, path + ": expected a name that ends in .bw or .bedgraph");
    if (format == SignalFormat::bigwig) {
      bigwig_.emplace(path);
    } else {
      bedgraph_.emplace(path);
    }
  }

  void check(std::span<const Contig> contigs) const {
    if (bigwig_) check_bigwig(*bigwig_, contigs);
  }
  void write(Signal& signal) {
    if (bigwig_) write_bigwig(*bigwig_, signal.contigs(), signal.sorted());
    if (bedgraph_) write_bedgraph(*bedgraph_, signal.contigs(), signal.sorted());
  }
  void finish() {
    if (bigwig_) {
      bytes_ = size_of(*bigwig_);
      bigwig_->finish();
    }
    if (bedgraph_) bedgraph_->finish();
  }
  void commit() {
    if (bigwig_) bigwig_->commit();
    if (bedgraph_) bedgraph_->commit();
  }
  std::uint64_t bytes() const { return bedgraph_ ? bedgraph_->bytes() : bytes_; }

 private:
  std::optional<io::output::AtomicFile> bigwig_;
  std::optional<io::OutputFile> bedgraph_;
  std::uint64_t bytes_ = 0;
};

SignalFile::SignalFile(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
SignalFile::~SignalFile() = default;
SignalFile::SignalFile(SignalFile&&) noexcept = default;
SignalFile& SignalFile::operator=(SignalFile&&) noexcept = default;
void SignalFile::check(std::span<const Contig> contigs) const { impl_->check(contigs); }
void SignalFile::write(Signal& signal) { impl_->write(signal); }
void SignalFile::finish() { impl_->finish(); }
void SignalFile::commit() { impl_->commit(); }
std::uint64_t SignalFile::bytes() const { return impl_->bytes(); }

}  // namespace biogpu::genome
