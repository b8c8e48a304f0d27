#include "gpu/kmer/count/pass_counter.hpp"

#include <algorithm>

#include "gpu/kmer/count/ranges.hpp"
#include "gpu/rt/device.hpp"
#include "gpu/rt/error.hpp"
#include "gpu/rt/transfer.hpp"

namespace biogpu::gpu::kmer {
namespace {

constexpr std::uint64_t kMaxWindows = (std::uint64_t{1} << 31) - 1;  // the sort counts in int
constexpr double kShareOfFree = 0.9;

std::uint64_t budget_of(const CounterOptions& options) {
  const auto free_bytes =
      static_cast<std::uint64_t>(kShareOfFree * static_cast<double>(memory_info().free_bytes));
  return options.max_device_bytes == 0 ? free_bytes
                                       : std::min(options.max_device_bytes, free_bytes);
}

}  // namespace

PassCounter::PassCounter(const CounterOptions& options, std::uint64_t bytes_per_window,
                         std::size_t max_chunks)
    : options_(options),
      text_(options.stage_letters, budget_of(options) / kTextShare, max_chunks),
      budget_(budget_of(options)),
      bytes_per_window_(bytes_per_window) {}

void PassCounter::clear() {
  text_.clear();
  planned_ = false;
  passes_.clear();
  next_pass_ = 0;
  n_distinct_ = 0;
  n_taken_ = 0;
  n_windows_ = 0;
}

bool PassCounter::share_texts(const std::vector<PassCounter*>&) { return false; }

std::uint64_t PassCounter::capacity() const {
  const std::uint64_t left = budget_ > text_.bytes() ? budget_ - text_.bytes() : 0;
  return std::min(kMaxWindows, left / bytes_per_window_);
}

void PassCounter::set_pass(const Pass& pass) {
  planned_ = true;
  passes_ = {pass};
}

// One pass where everything fits, else as many as it takes.
void PassCounter::plan() {
  planned_ = true;
  text_.flush(stream_);
  const std::uint64_t n = n_bases();
  if (n == 0) return;
  if (n <= capacity() && options_.n_parts == 1)
    passes_ = {{0, static_cast<std::uint32_t>(kRanges), n, false}};
  else
    plan_ranges(capacity());
}

void PassCounter::plan_ranges(std::uint64_t capacity) {
  DeviceBuffer<unsigned long long> histogram(kRanges);
  stream_.fill(histogram.data(), 0, histogram.bytes());
  add_histogram(histogram.data());
  std::vector<unsigned long long> n_in_range(kRanges);
  download(stream_, n_in_range, histogram.data());
  const auto n_parts = static_cast<std::size_t>(options_.n_parts);
  const auto part = static_cast<std::size_t>(options_.part);
  const std::uint32_t end = first_range_of(part + 1, n_parts);
  for (std::uint32_t range = first_range_of(part, n_parts); range < end; ++range) {
    const std::uint64_t n = n_in_range[range];
    if (n > capacity)
      throw DeviceError(DeviceError::Kind::out_of_memory,
                        "one k-mer range does not fit into the device's memory; use --device cpu");
    if (passes_.empty() || passes_.back().n + n > capacity) passes_.push_back({range, 0, 0, false});
    passes_.back().last_range = range + 1;
    passes_.back().n += n;
  }
}

bool PassCounter::advance() {
  if (!planned_) plan();
  while (n_taken_ == n_distinct_) {
    if (next_pass_ == passes_.size()) return false;
    n_taken_ = 0;
    n_distinct_ = 0;
    const Pass& pass = passes_[next_pass_++];
    if (pass.n > 0) run(pass);
  }
  return true;
}

void PassCounter::prepare() { advance(); }

std::size_t PassCounter::next(std::size_t max_n, HostCounts& block) {
  if (!advance()) return 0;
  const std::size_t n = std::min<std::uint64_t>(max_n, n_distinct_ - n_taken_);
  block.keys.reserve(n * static_cast<std::size_t>(options_.n_words));
  block.counts.reserve(n);
  fetch(n_taken_, n, block);
  stream_.synchronize();
  n_taken_ += n;
  return n;
}

std::size_t PassCounter::next(std::size_t max_n, std::vector<std::uint64_t>& keys,
                              std::vector<std::uint64_t>& counts) {
  const std::size_t n = next(max_n, block_);
  const std::size_t n_words = n * static_cast<std::size_t>(options_.n_words);
  keys.assign(block_.keys.data(), block_.keys.data() + n_words);
  counts.assign(block_.counts.data(), block_.counts.data() + n);
  return n;
}

CounterTimes PassCounter::times() const {
  CounterTimes times = times_;
  times.copy_s = text_.copy_s();
  return times;
}

void PassCounter::note_bytes(std::uint64_t beside_text) {
  peak_bytes_ = std::max(peak_bytes_, text_.bytes() + beside_text);
}

std::unique_ptr<PassCounter> make_counter(const CounterOptions& options) {
  return options.n_words == 1 ? make_key_counter(options) : make_fingerprint_counter(options);
}

}  // namespace biogpu::gpu::kmer
