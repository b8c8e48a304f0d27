#include "gpu/kmer/counter.hpp"

#include <algorithm>
#include <cstring>

#include "gpu/kmer/letters.hpp"
#include "gpu/prim/device_sort.hpp"
#include "gpu/rt/device.hpp"
#include "gpu/rt/error.hpp"

namespace biogpu::gpu::kmer {
namespace {

// Sort input, output, the sort's own copy, run begins and lengths.
constexpr std::uint64_t kBytesPerPlace = 4 * sizeof(std::uint64_t) + sizeof(std::uint32_t);
constexpr std::uint64_t kMaxPlaces = (std::uint64_t{1} << 31) - 1;  // the sort counts in int
constexpr double kShareOfFree = 0.9;

std::size_t round_up(std::size_t n, std::size_t by) { return (n + by - 1) / by * by; }

// Device time of what is queued while it lives.
class Timed {
 public:
  Timed(Stream& stream, double& seconds) : stream_(stream), seconds_(seconds) {
    begin_.record(stream_);
  }
  // Waits for the stream.
  void stop() {
    end_.record(stream_);
    end_.synchronize();
    seconds_ += end_.seconds_since(begin_);
  }

 private:
  Stream& stream_;
  double& seconds_;
  Event begin_;
  Event end_;
};

}  // namespace

Counter::Counter(const CounterOptions& options)
    : options_(options), tables_(options.tables.size()), counter_(1) {
  stream_.copy_to_device(tables_.data(), options_.tables.data(), tables_.bytes());
  stream_.synchronize();
  const auto free_bytes =
      static_cast<std::uint64_t>(kShareOfFree * static_cast<double>(memory_info().free_bytes));
  budget_ =
      options_.max_device_bytes == 0 ? free_bytes : std::min(options_.max_device_bytes, free_bytes);
}

bool Counter::add(const char* letters, std::size_t n) {
  const auto overlap = static_cast<std::size_t>(options_.k - 1);
  const std::uint64_t needed = (n_staged_ + n) / 4 + (n_staged_ + n) / 8 + 4096;
  // A third of the memory for the text leaves enough for ranges of a good size.
  if (text_bytes_ + n_staged_ > 0 && text_bytes_ + needed > budget_ / 3) return false;
  for (std::size_t begin = 0; begin < n;) {
    // A text that has to be cut begins in an empty stage, so that no piece is short.
    if (n_staged_ > 0 && n_staged_ + (n - begin) + 1 > options_.stage_bytes) flush();
    staged_.reserve(options_.stage_bytes + 32);
    const std::size_t now = std::min(options_.stage_bytes - 1, n - begin);
    std::memcpy(staged_.data() + n_staged_, letters + begin, now);
    staged_.data()[n_staged_ + now] = '\0';  // no base
    n_staged_ += now + 1;
    if (begin + now == n) break;
    begin += now - overlap;
  }
  return true;
}

// Copies what is staged and packs it.
void Counter::flush() {
  if (n_staged_ == 0) return;
  const std::size_t n_words = round_up(n_staged_, 32) / 16;
  std::memset(staged_.data() + n_staged_, 0, n_words * 16 - n_staged_);
  letters_.reserve(options_.stage_bytes + 32);
  Chunk chunk{DeviceBuffer<std::uint32_t>(n_words + 4),
              DeviceBuffer<std::uint32_t>(n_words / 2 + 2), n_staged_};
  Timed timed(stream_, times_.pack_s);
  stream_.copy_to_device(letters_.data(), staged_.data(), n_words * 16);
  launch_pack_letters({letters_.data(), chunk.bases.data(), chunk.invalid.data(), n_words},
                      stream_);
  timed.stop();
  text_bytes_ += chunk.bases.bytes() + chunk.invalid.bytes();
  chunks_.push_back(std::move(chunk));
  n_staged_ = 0;
  note_bytes(letters_.bytes());
}

void Counter::clear() {
  chunks_.clear();
  text_bytes_ = 0;
  n_staged_ = 0;
  planned_ = false;
  passes_.clear();
  next_pass_ = 0;
  n_distinct_ = 0;
  n_taken_ = 0;
  n_windows_ = 0;
}

PlacesArgs Counter::arguments(const Chunk& chunk) const {
  PlacesArgs args;
  args.rule = {options_.k, options_.canonical, options_.size_bits, tables_.data(),
               static_cast<int>(options_.tables.size() / 256)};
  args.bases = chunk.bases.data();
  args.invalid = chunk.invalid.data();
  args.n_bases = chunk.n_bases;
  return args;
}

// One pass where everything fits, else as many as it takes.
void Counter::plan() {
  planned_ = true;
  flush();
  letters_ = {};
  const std::uint64_t left = budget_ > text_bytes_ ? budget_ - text_bytes_ : 0;
  const std::uint64_t capacity = std::min(kMaxPlaces, left / kBytesPerPlace);
  std::uint64_t n_bases = 0;
  for (const Chunk& chunk : chunks_) n_bases += chunk.n_bases;
  if (n_bases == 0) return;
  if (n_bases <= capacity && options_.n_parts == 1) {
    passes_ = {{0, static_cast<std::uint32_t>(kRanges), n_bases}};
    return;
  }
  plan_ranges(capacity);
}

void Counter::plan_ranges(std::uint64_t capacity) {
  DeviceBuffer<unsigned long long> histogram(kRanges);
  stream_.fill(histogram.data(), 0, histogram.bytes());
  for (const Chunk& chunk : chunks_)
    launch_range_histogram(arguments(chunk), histogram.data(), stream_);
  std::vector<unsigned long long> n_in_range(kRanges);
  stream_.copy_to_host(n_in_range.data(), histogram.data(), histogram.bytes());
  stream_.synchronize();
  const auto n_parts = static_cast<std::size_t>(options_.n_parts);
  const auto part = static_cast<std::size_t>(options_.part);
  const std::size_t end = kRanges * (part + 1) / n_parts;
  for (std::size_t range = kRanges * part / n_parts; range < end; ++range) {
    const std::uint64_t n = n_in_range[range];
    if (n > capacity)
      throw DeviceError(DeviceError::Kind::out_of_memory,
                        "one k-mer range does not fit into the device's memory; use --device cpu");
    if (passes_.empty() || passes_.back().n_places + n > capacity)
      passes_.push_back({static_cast<std::uint32_t>(range), 0, 0});
    passes_.back().last_range = static_cast<std::uint32_t>(range + 1);
    passes_.back().n_places += n;
  }
}

std::uint64_t Counter::place_all(const Pass& pass) {
  places_.reserve(pass.n_places);
  stream_.fill(counter_.data(), 0, counter_.bytes());
  Timed timed(stream_, times_.place_s);
  for (const Chunk& chunk : chunks_) {
    PlacesArgs args = arguments(chunk);
    args.first_range = pass.first_range;
    args.last_range = pass.last_range;
    args.places = places_.data();
    args.capacity = pass.n_places;
    args.n_places = counter_.data();
    launch_places(args, stream_);
  }
  timed.stop();
  unsigned long long n = 0;
  stream_.copy_to_host(&n, counter_.data(), sizeof n);
  stream_.synchronize();
  return n;
}

void Counter::run(const Pass& pass) {
  n_taken_ = 0;
  n_distinct_ = 0;
  if (pass.n_places == 0) return;
  const std::uint64_t n = place_all(pass);
  n_windows_ += n;
  if (n == 0) return;
  const int n_bits = 2 * options_.k;
  sorted_.reserve(n);
  workspace_.reserve(sort_workspace_bytes_u64(n, n_bits));
  note_bytes(workspace_.bytes());
  Timed timed(stream_, times_.sort_s);
  sort_keys(places_.data(), sorted_.data(), n, n_bits, workspace_.data(), workspace_.bytes(),
            stream_);
  timed.stop();
  list_runs(n);
}

void Counter::list_runs(std::uint64_t n) {
  const std::size_t n_blocks = n_run_blocks(n);
  DeviceBuffer<std::uint32_t> n_in_block(n_blocks);
  DeviceBuffer<std::uint64_t> block_begin(n_blocks + 1);
  RunsArgs args;
  args.sorted = sorted_.data();
  args.n = n;
  args.n_in_block = n_in_block.data();
  args.block_begin = block_begin.data();
  Timed timed(stream_, times_.runs_s);
  launch_count_runs(args, stream_);
  stream_.copy_to_host(&n_distinct_, block_begin.data() + n_blocks, sizeof n_distinct_);
  stream_.synchronize();
  run_begin_.reserve(n_distinct_ + 1);
  run_lengths_.reserve(n_distinct_);
  args.distinct = places_.data();  // the unsorted places are not needed any more
  args.run_begin = run_begin_.data();
  args.run_length = run_lengths_.data();
  launch_list_runs(args, n_distinct_, stream_);
  timed.stop();
}

std::size_t Counter::next(std::size_t max_n, std::vector<std::uint64_t>& places,
                          std::vector<std::uint64_t>& counts) {
  if (!planned_) plan();
  while (n_taken_ == n_distinct_) {
    if (next_pass_ == passes_.size()) return 0;
    run(passes_[next_pass_++]);
  }
  const std::size_t n = std::min<std::uint64_t>(max_n, n_distinct_ - n_taken_);
  places.resize(n);
  counts.resize(n);
  host_places_.reserve(n);
  host_lengths_.reserve(n);
  stream_.copy_to_host(host_places_.data(), places_.data() + n_taken_, n * sizeof(std::uint64_t));
  stream_.copy_to_host(host_lengths_.data(), run_lengths_.data() + n_taken_,
                       n * sizeof(std::uint32_t));
  stream_.synchronize();
  std::copy_n(host_places_.data(), n, places.begin());
  std::copy_n(host_lengths_.data(), n, counts.begin());
  n_taken_ += n;
  return n;
}

void Counter::note_bytes(std::uint64_t extra) {
  peak_bytes_ = std::max(peak_bytes_, text_bytes_ + places_.bytes() + sorted_.bytes() +
                                          run_begin_.bytes() + run_lengths_.bytes() + extra);
}

}  // namespace biogpu::gpu::kmer
