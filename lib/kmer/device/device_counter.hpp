#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lib/kmer/key/key_order.hpp"
#include "lib/kmer/sequences/packed_text.hpp"

namespace biogpu::kmer {

struct DeviceCounterOptions {
  bool canonical = false;
  KeyOrder order;  // tells k
  int part = 0;    // of n_parts devices that share the k-mers among them
  int n_parts = 1;
  std::uint64_t max_device_bytes = 0;  // 0: what is free
};

// Device seconds by stage: copying the text, encoding k-mers, sorting sort keys, listing runs.
struct DeviceCountTimes {
  double copy_s = 0;
  double encode_s = 0;
  double sort_s = 0;
  double runs_s = 0;
};

// Counts the k-mers of a text on one device. One thread, but for add(). Errors:
// Error{device_memory} where a single range of k-mers does not fit, Error{failed}.
class DeviceCounter {
 public:
  virtual ~DeviceCounter() = default;

  // The most letters of a text.
  static constexpr std::size_t kMaxLetters = 16u << 20;
  // Adds a text, any thread, many at a time; what is not ACGTacgt ends a run of bases, and so does
  // the end. False, with nothing changed, where the device is full: take what it holds by next(),
  // clear(), and add again.
  virtual bool add(const PackedText& text) = 0;
  // Moves all texts to the device. exchange() and prepare() do so too.
  virtual void flush() {}
  // Of counters that share their k-mers, one a device and in the order of their parts: from now on
  // they share their texts too, so that each text is added to one of them only, and exchange() is
  // called for one of them after the last add(). False, with nothing changed, where they cannot;
  // each text is then added to all.
  virtual bool share_texts(std::span<DeviceCounter* const>) { return false; }
  // Sends the k-mers of the texts to the devices that count them. While no other is at work.
  virtual void exchange() {}
  // Counts what fits at once, so that next() has something to give. next() does so too; the call
  // lets several devices count at a time.
  virtual void prepare() = 0;
  // Replaces both by the next k-mers and counts, at most max_n; 0 at the end. For k up to 32 they
  // are distinct sort keys in ascending order, so that part after part they are the database. Above
  // they are k-mers, words_for(k) words each, in no order, and one may come more than once.
  virtual std::size_t next(std::size_t max_n, std::vector<std::uint64_t>& keys,
                           std::vector<std::uint64_t>& counts) = 0;
  // The same in memory that the device copies to at full speed, which the block owns: keys and
  // counts hold until the block is used again. False at the end.
  struct Block {
    std::size_t n = 0;
    const std::uint64_t* keys = nullptr;  // words_for(k) each
    const std::uint32_t* counts = nullptr;
    std::shared_ptr<void> memory;
  };
  virtual bool next(std::size_t max_n, Block& block) = 0;
  virtual void clear() = 0;

  virtual std::uint64_t n_windows() const = 0;  // counted since the last clear()
  virtual DeviceCountTimes times() const = 0;
  virtual std::uint64_t peak_device_bytes() const = 0;
};

// Throws Error{device} where this build has no GPU backend.
std::unique_ptr<DeviceCounter> make_device_counter(int device, const DeviceCounterOptions& options);

}  // namespace biogpu::kmer
