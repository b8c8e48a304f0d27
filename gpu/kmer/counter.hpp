#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/kmer/places.hpp"
#include "gpu/kmer/runs.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::kmer {

struct CounterOptions {
  int k = 0;  // up to kMaxK
  bool canonical = false;
  int size_bits = 0;                  // of the order, 0: places are keys
  std::vector<std::uint64_t> tables;  // [n][256], as KeyOrder makes them
  int part = 0;                       // of n_parts devices that share the places among them
  int n_parts = 1;
  std::uint64_t max_device_bytes = 0;   // 0: what is free
  std::size_t stage_bytes = 64u << 20;  // letters copied and packed at a time, a multiple of 32
};

// Device seconds by stage.
struct CounterTimes {
  double pack_s = 0;
  double place_s = 0;
  double sort_s = 0;
  double runs_s = 0;
};

// Counts the k-mers of a text that lies packed on the device: places of all windows, sorted, runs
// counted. Where the places do not fit at once, they are made and sorted range by range, each range
// from the whole text. Belongs to the device that was current when it was made; one thread.
class Counter {
 public:
  explicit Counter(const CounterOptions& options);

  // Copies text to the device. Windows do not reach from one call into the next. False, with
  // nothing changed, where there is no room.
  bool add(const char* letters, std::size_t n);

  // The next distinct places in ascending order and how often each occurs, up to so many; 0: no
  // more are left. The vectors are overwritten.
  std::size_t next(std::size_t max_n, std::vector<std::uint64_t>& places,
                   std::vector<std::uint64_t>& counts);

  // Forgets the text; add() may follow.
  void clear();

  std::uint64_t n_windows() const { return n_windows_; }  // sorted since the last clear()
  const CounterTimes& times() const { return times_; }
  std::uint64_t peak_bytes() const { return peak_bytes_; }

 private:
  struct Chunk {
    DeviceBuffer<std::uint32_t> bases;
    DeviceBuffer<std::uint32_t> invalid;
    std::uint64_t n_bases = 0;
  };
  struct Pass {
    std::uint32_t first_range = 0;
    std::uint32_t last_range = 0;
    std::uint64_t n_places = 0;  // at most
  };

  void flush();
  void plan();
  void plan_ranges(std::uint64_t capacity);
  void run(const Pass& pass);
  std::uint64_t place_all(const Pass& pass);
  void list_runs(std::uint64_t n);
  PlacesArgs arguments(const Chunk& chunk) const;
  void note_bytes(std::uint64_t extra);

  CounterOptions options_;
  Stream stream_;
  std::uint64_t budget_ = 0;
  std::uint64_t text_bytes_ = 0;  // of all chunks
  DeviceBuffer<std::uint64_t> tables_;
  DeviceBuffer<char> letters_;
  PinnedBuffer<char> staged_;  // letters of several add()s, not yet on the device
  std::size_t n_staged_ = 0;
  std::vector<Chunk> chunks_;

  bool planned_ = false;
  std::vector<Pass> passes_;
  std::size_t next_pass_ = 0;
  DeviceBuffer<std::uint64_t> places_;  // unsorted, then the distinct ones
  DeviceBuffer<std::uint64_t> sorted_;
  DeviceBuffer<std::uint64_t> run_begin_;
  DeviceBuffer<std::uint32_t> run_lengths_;
  DeviceBuffer<std::uint8_t> workspace_;
  DeviceBuffer<unsigned long long> counter_;
  std::uint64_t n_distinct_ = 0;  // of the pass at hand
  std::uint64_t n_taken_ = 0;
  PinnedBuffer<std::uint64_t> host_places_;
  PinnedBuffer<std::uint32_t> host_lengths_;

  std::uint64_t n_windows_ = 0;
  std::uint64_t peak_bytes_ = 0;
  CounterTimes times_;
};

}  // namespace biogpu::gpu::kmer
