#include "apps/biogpu/infer/dna/variant_input.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

namespace biogpu::app {
namespace {

constexpr std::size_t kMaxOfBatch = 256;  // variants
// Records that are not scored and wait for the batch before them to be written.
constexpr std::size_t kMaxNotScored = 4096;

}  // namespace

VariantInput::VariantInput(const std::string& path, const std::string& genome,
                           genome::VariantReaderOptions options)
    : ModelInput({"variants", "alleles", false}),
      path_(path),
      keep_source_(options.keep_source),
      records_(options.records),
      genome_(genome),
      reader_(path, genome_, std::move(options)) {}

std::string VariantInput::place(const genome::Variant& variant) const {
  return fmt::format("{}: record {} ({}:{})", reader_.label(), variant.record,
                     genome_.contigs()[variant.contig].name, variant.position + 1);
}

std::optional<genome::Variant> VariantInput::take_variant(bool has_result) {
  const std::lock_guard lock(mutex_);
  if (queue_.empty() || (queue_.front().is_scored && !has_result)) return std::nullopt;
  genome::Variant variant = std::move(queue_.front());
  queue_.pop_front();
  return variant;
}

// The next that has no result yet.
VariantInput::Next VariantInput::next(genome::Variant& variant) {
  while (reader_.next(variant)) {
    if (keep_source_) {
      const std::lock_guard lock(mutex_);
      queue_.push_back(variant);
    }
    if (!variant.is_scored) return Next::not_scored;
    if (skip(1) == 0) return Next::scored;
  }
  return Next::end;
}

bool VariantInput::read(std::size_t slot) {
  std::vector<genome::Variant>& batch = batches_[slot];
  batch.clear();
  if (ahead_) batch.push_back(*std::exchange(ahead_, std::nullopt));
  std::int64_t n_windows = std::ssize(batch);
  std::size_t n_not_scored = 0;
  genome::Variant variant;
  for (Next found; (found = next(variant)) != Next::end;) {
    if (found == Next::not_scored) {
      if (++n_not_scored == kMaxNotScored) return true;  // with a batch that may be empty
      continue;
    }
    const genome::Window window = place_window_(variant);
    bool shares = false;
    if (!batch.empty()) {
      const genome::Window last = place_window_(batch.back());
      shares = last.contig == window.contig && last.begin == window.begin;
    }
    if (batch.size() == kMaxOfBatch || (!shares && n_windows == n_per_batch_)) {
      ahead_ = std::move(variant);
      return true;
    }
    n_windows += shares ? 0 : 1;
    batch.push_back(std::move(variant));
  }
  return !batch.empty();
}

std::vector<report::InputFile> VariantInput::files() const {
  std::vector<report::InputFile> files;
  for (const auto& [path, n] :
       {std::pair(path_, reader_.counts().records), std::pair(genome_.path(), std::uint64_t{0})}) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(path, error);
    files.push_back({path, error ? 0 : bytes, n});
  }
  return files;
}

}  // namespace biogpu::app
