// Counting for any k: fingerprints are sorted together with where their k-mers begin, neighbours
// compared letter by letter, and the distinct k-mers read from the text.
#include <algorithm>
#include <bit>

#include "gpu/kmer/count/fingerprints.hpp"
#include "gpu/kmer/count/pass_counter.hpp"
#include "gpu/kmer/distinct/run_list.hpp"
#include "gpu/kmer/timed.hpp"
#include "gpu/prim/device_sort_pairs.hpp"
#include "gpu/rt/transfer.hpp"

namespace biogpu::gpu::kmer {
namespace {

// Two sides of fingerprints and positions, marks, run begins and lengths, and the sort's own.
constexpr std::uint64_t kBytesPerWindow = 2 * (8 + 4) + 8 + 4 + 4;
constexpr std::uint64_t kPositions = std::uint64_t{1} << 32;
constexpr int kFingerprintBits = 64;

std::size_t max_chunks(const CounterOptions& options) { return kPositions / options.stage_letters; }

class FingerprintCounter : public PassCounter {
 public:
  explicit FingerprintCounter(const CounterOptions& options)
      : PassCounter(options, kBytesPerWindow, max_chunks(options)), counter_(1) {}

 private:
  // Of all chunks, for the device.
  WindowText text() {
    std::vector<WindowChunk> chunks;
    for (const TextChunk& chunk : text_.chunks())
      chunks.push_back({chunk.bases.data(), chunk.invalid.data()});
    upload(stream_, chunks_, chunks);
    stream_.synchronize();
    return {chunks_.data(), std::countr_zero(options_.stage_letters), options_.k,
            options_.canonical};
  }

  template <class Launch>
  void for_all_chunks(FingerprintsArgs args, Launch&& launch) {
    args.text = text();
    for (const TextChunk& chunk : text_.chunks()) {
      args.n_bases = chunk.n_bases;
      launch(args);
      ++args.chunk;
    }
  }

  void add_histogram(unsigned long long* histogram) override {
    for_all_chunks({}, [&](const FingerprintsArgs& args) {
      launch_window_histogram(args, histogram, stream_);
    });
  }

  std::uint64_t list_windows(const Pass& pass) {
    for (int side = 0; side < 2; ++side) {
      fingerprints_[side].reserve(pass.n);
      positions_[side].reserve(pass.n);
    }
    stream_.fill(counter_.data(), 0, counter_.bytes());
    FingerprintsArgs args;
    args.first_range = pass.first_range;
    args.last_range = pass.last_range;
    args.fingerprints = fingerprints_[0].data();
    args.positions = positions_[0].data();
    args.capacity = pass.n;
    args.n_windows = counter_.data();
    Timed timed(stream_, times_.encode_s);
    for_all_chunks(args, [&](const FingerprintsArgs& each) { launch_fingerprints(each, stream_); });
    timed.stop();
    return download(stream_, counter_.data());
  }

  void run(const Pass& pass) override {
    const std::uint64_t n = list_windows(pass);
    n_windows_ += n;
    if (n == 0) return;
    pairs_ = {{fingerprints_[0].data(), fingerprints_[1].data()},
              {positions_[0].data(), positions_[1].data()},
              0};
    workspace_.reserve(sort_pairs_workspace_bytes(n));
    Timed timed(stream_, times_.sort_s);
    sort_pairs(pairs_, n, kFingerprintBits, workspace_.data(), workspace_.bytes(), stream_);
    timed.stop();
    list_runs(n);
    note_bytes(2 * (fingerprints_[0].bytes() + positions_[0].bytes()) + workspace_.bytes() +
               begins_.bytes() + runs_.bytes());
  }

  void list_runs(std::uint64_t n) {
    begins_.reserve((n + 15) / 16);
    Timed timed(stream_, times_.runs_s);
    launch_mark_runs({text(), pairs_.keys[pairs_.current], positions(), n, begins_.data()},
                     stream_);
    RunsArgs args;
    args.n = n;
    args.begins = begins_.data();
    n_distinct_ = runs_.list(args, stream_);
    timed.stop();
  }

  void fetch(std::uint64_t first, std::size_t n, HostCounts& block) override {
    const std::size_t n_key_words = n * static_cast<std::size_t>(options_.n_words);
    keys_.reserve(n_key_words);
    launch_window_keys(
        {text(), positions(), runs_.begins() + first, n, options_.n_words, keys_.data()}, stream_);
    stream_.copy_to_host(block.keys.data(), keys_.data(), n_key_words * sizeof(std::uint64_t));
    stream_.copy_to_host(block.counts.data(), runs_.lengths() + first, n * sizeof(std::uint32_t));
  }

  const std::uint32_t* positions() const { return pairs_.values[pairs_.current]; }

  DeviceBuffer<WindowChunk> chunks_;
  DeviceBuffer<std::uint64_t> fingerprints_[2];
  DeviceBuffer<std::uint32_t> positions_[2];
  SortPairs pairs_;  // those
  DeviceBuffer<std::uint8_t> workspace_;
  DeviceBuffer<std::uint16_t> begins_;
  RunList runs_;
  DeviceBuffer<std::uint64_t> keys_;
  DeviceBuffer<unsigned long long> counter_;
};

}  // namespace

std::unique_ptr<PassCounter> make_fingerprint_counter(const CounterOptions& options) {
  return std::make_unique<FingerprintCounter>(options);
}

}  // namespace biogpu::gpu::kmer
