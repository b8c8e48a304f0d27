#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/kmer/text/device_text.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::kmer {

struct CounterOptions {
  int k = 0;
  int n_words = 1;  // of 64 bits that a k-mer takes; above 1 k-mers come back instead of sort keys
  bool canonical = false;
  int size_bits = 0;                  // of the order, 0: sort keys are keys; for one word only
  std::vector<std::uint64_t> tables;  // [n][256], as KeyOrder makes them; for one word only
  int part = 0;                       // of n_parts devices that share the k-mers among them
  int n_parts = 1;
  // Of a sort key, the highest that are sorted first; 0: chosen, and where sort keys are spread
  // evenly they are counted in bins instead.
  int sort_bits = 0;
  int bin_bits = 0;  // of a sort key, the highest that bins are cut by; 0: chosen by their number
  std::uint64_t max_device_bytes = 0;  // 0: what is free
  // Letters copied at a time, and the most that one add() takes; a power of two, 64 at least.
  static constexpr std::size_t kStageLetters = 64u << 20;
  std::size_t stage_letters = kStageLetters;
};

// Device seconds by stage.
struct CounterTimes {
  double copy_s = 0;
  double encode_s = 0;
  double sort_s = 0;
  double runs_s = 0;
};

// k-mers and their counts on the host, in memory that devices copy to at full speed.
struct HostCounts {
  PinnedBuffer<std::uint64_t> keys;
  PinnedBuffer<std::uint32_t> counts;
};

// Counts the k-mers of a text that lies packed on the device: a number for every window, sorted,
// runs of equal ones counted. Where not all fit at once, they are made and sorted range by range of
// the number's highest bits, each range from the whole text. Belongs to the device that was current
// when it was made; one thread.
class PassCounter {
 public:
  virtual ~PassCounter() = default;

  // Copies text to the device. Windows do not reach from one text into the next. False, with
  // nothing changed, where there is no room. Any thread, many at a time, with the device current.
  bool add(const PackedLetters& letters) { return text_.add(letters, stream_); }

  // Moves all of it there. The calls below do so too.
  void flush() { text_.flush(stream_); }

  // Of counters for the same k-mers, one a device and in the order of their parts: from now on they
  // share their texts, so that each text is added to one of them only, and exchange() is called for
  // one of them after the last add(). False, with nothing changed, where these cannot. All live
  // equally long.
  virtual bool share_texts(const std::vector<PassCounter*>& all);
  // Sends the k-mers of the texts to the devices that count them.
  virtual void exchange() {}

  // Counts the first range. next() does so too; the call lets several devices work at a time.
  void prepare();

  // The next k-mers and how often each occurs, up to so many; 0: no more are left. The vectors are
  // overwritten. One word a k-mer: distinct sort keys in ascending order. More: the words of
  // k-mers, the most significant first, in no order, and one may come back more than once with a
  // part of its count.
  std::size_t next(std::size_t max_n, std::vector<std::uint64_t>& keys,
                   std::vector<std::uint64_t>& counts);
  // The same into a block, which becomes large enough.
  std::size_t next(std::size_t max_n, HostCounts& block);

  // Forgets the text; add() may follow.
  void clear();

  std::uint64_t n_windows() const { return n_windows_; }  // counted since the last clear()
  CounterTimes times() const;
  std::uint64_t peak_bytes() const { return peak_bytes_; }

 protected:
  // Windows whose range is in [first_range, last_range), at most n of them.
  struct Pass {
    std::uint32_t first_range = 0;
    std::uint32_t last_range = 0;
    std::uint64_t n = 0;
    bool is_encoded = false;  // by exchange()
  };

  // bytes_per_window: of device memory that counting takes beside the text.
  PassCounter(const CounterOptions& options, std::uint64_t bytes_per_window,
              std::size_t max_chunks);

  // Of all texts that the windows come from; an upper bound of those.
  virtual std::uint64_t n_bases() const { return text_.n_bases(); }
  // Windows that can be counted at once.
  std::uint64_t capacity() const;
  // For counters that go through the texts of all: together these are no more than one alone would
  // hold, so that a range of them fits each.
  void share_text_room(std::size_t n_counters) { text_.limit(budget_ / kTextShare / n_counters); }
  // Instead of what would be planned.
  void set_pass(const Pass& pass);
  // Adds to histogram[kRanges] the windows of each range.
  virtual void add_histogram(unsigned long long* histogram) = 0;
  // Counts the windows of a range: sets n_distinct_ and adds to n_windows_.
  virtual void run(const Pass& pass) = 0;
  // Copies entries [first, first + n) of the range that was counted to the host.
  virtual void fetch(std::uint64_t first, std::size_t n, HostCounts& block) = 0;
  void note_bytes(std::uint64_t beside_text);

  const CounterOptions options_;
  Stream stream_;
  DeviceText text_;
  CounterTimes times_;
  std::uint64_t n_distinct_ = 0;  // of the range at hand
  std::uint64_t n_windows_ = 0;

 private:
  void plan();
  void plan_ranges(std::uint64_t capacity);
  // Counts ranges until one has something to give; false at the end.
  bool advance();

  // A third of the memory for the text leaves enough for ranges of a good size.
  static constexpr std::uint64_t kTextShare = 3;

  const std::uint64_t budget_;
  const std::uint64_t bytes_per_window_;
  bool planned_ = false;
  std::vector<Pass> passes_;
  std::size_t next_pass_ = 0;
  std::uint64_t n_taken_ = 0;  // of n_distinct_
  std::uint64_t peak_bytes_ = 0;
  HostCounts block_;
};

// The counter for k: sort keys up to 32, fingerprints above.
std::unique_ptr<PassCounter> make_counter(const CounterOptions& options);
std::unique_ptr<PassCounter> make_key_counter(const CounterOptions& options);
std::unique_ptr<PassCounter> make_fingerprint_counter(const CounterOptions& options);

}  // namespace biogpu::gpu::kmer
