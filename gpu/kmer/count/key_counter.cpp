// Counting for k up to 32: the numbers counted are the sort keys in the database's order.
#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gpu/kmer/count/key_exchange.hpp"
#include "gpu/kmer/count/pass_counter.hpp"
#include "gpu/kmer/count/sort_keys.hpp"
#include "gpu/kmer/distinct/bin_list.hpp"
#include "gpu/kmer/distinct/finish_sort.hpp"
#include "gpu/kmer/distinct/run_list.hpp"
#include "gpu/kmer/timed.hpp"
#include "gpu/prim/device_sort.hpp"
#include "gpu/rt/device.hpp"
#include "gpu/rt/transfer.hpp"

namespace biogpu::gpu::kmer {
namespace {

// Sort input, output, the sort's own copy, run begins and lengths. Bins take less.
constexpr std::uint64_t kBytesPerSortKey = 4 * sizeof(std::uint64_t) + sizeof(std::uint32_t);
// Of n different sort keys about n / 2^(1 + kSpareBits) then share what was sorted by with another.
constexpr int kSpareBits = 9;
constexpr std::uint32_t kMaxGroups = 1u << 20;
// Bits of a hash below those that bins are cut by, at least: values in a bin are then spread
// evenly.
constexpr int kBitsInBin = 8;

class KeyCounter : public PassCounter {
 public:
  explicit KeyCounter(const CounterOptions& options)
      : PassCounter(options, kBytesPerSortKey, SIZE_MAX),
        device_(current_device()),
        flags_(1),
        counter_(1) {
    upload(stream_, tables_, options_.tables);
    stream_.synchronize();
  }

  bool share_texts(const std::vector<PassCounter*>& all) override {
    std::vector<KeyCounter*> counters(all.size());
    std::transform(all.begin(), all.end(), counters.begin(),
                   [](PassCounter* counter) { return static_cast<KeyCounter*>(counter); });
    if (counters.size() > kMaxParts) return false;
    for (const KeyCounter* from : counters)
      for (const KeyCounter* to : counters)
        if (!enable_peer_access(from->device_, to->device_)) return false;
    for (KeyCounter* counter : counters) {
      counter->all_ = counters;
      counter->share_text_room(counters.size());
    }
    return true;
  }

  // Each device encodes its own texts, and sends the sort keys to the devices of their parts.
  // Where that does not suit, nothing is sent: each device then goes through the texts of all.
  void exchange() override {
    for (KeyCounter* counter : all_) {
      set_device(counter->device_);
      counter->text_.flush(counter->stream_);
    }
    if (options_.size_bits > 0 && n_bases() > 0) exchange_sort_keys();
    set_device(device_);
  }

 private:
  // Sort keys as they come from encoding or from an exchange: those behind n_own lie elsewhere,
  // and may still be on their way.
  struct Source {
    std::uint64_t n_own = 0;
    const std::uint64_t* received = nullptr;
    std::uint64_t n_received = 0;
  };

  SortKeysArgs arguments(const TextChunk& chunk) const {
    SortKeysArgs args;
    args.rule = {options_.k, options_.canonical, options_.size_bits, tables_.data(),
                 static_cast<int>(options_.tables.size() / 256)};
    args.bases = chunk.bases.data();
    args.invalid = chunk.invalid.data();
    args.n_bases = chunk.n_bases;
    return args;
  }

  void add_histogram(unsigned long long* histogram) override {
    for_all_chunks([&](const TextChunk& chunk) {
      launch_range_histogram(arguments(chunk), histogram, stream_);
    });
  }

  std::uint64_t encode_all(const Pass& pass) {
    sort_keys_.reserve(pass.n);
    stream_.fill(counter_.data(), 0, counter_.bytes());
    Timed timed(stream_, times_.encode_s);
    for_all_chunks([&](const TextChunk& chunk) {
      SortKeysArgs args = arguments(chunk);
      args.first_range = pass.first_range;
      args.last_range = pass.last_range;
      args.sort_keys = sort_keys_.data();
      args.capacity = pass.n;
      args.n_sort_keys = counter_.data();
      launch_sort_keys(args, stream_);
    });
    timed.stop();
    return download(stream_, counter_.data());
  }

  void run(const Pass& pass) override {
    Source source;
    if (pass.is_encoded)
      source = {exchange_->n_own(), exchange_->received(), exchange_->n_received()};
    else
      source.n_own = encode_all(pass);
    const std::uint64_t n = source.n_own + source.n_received;
    n_windows_ += n;
    if (n == 0) return;
    sorted_.reserve(n);
    if (!count_in_bins(source)) {
      gather(source);
      Timed timed(stream_, times_.sort_s);
      sort(n);
      timed.stop();
      list_runs(n);
    }
    note_bytes(sort_keys_.bytes() + sorted_.bytes() + workspace_.bytes() + runs_.bytes() +
               bins_.bytes() + (exchange_ ? exchange_->bytes() : 0));
  }

  // Sort keys that a hash spread are sorted by their highest bits only, which cuts them into
  // bins that are counted in shared memory: what was received by itself, so that it may arrive
  // while the own sort keys are sorted. False where that is not possible; sort_keys_ and source
  // have all of them still.
  bool count_in_bins(Source& source) {
    if (options_.size_bits == 0 || options_.sort_bits > 0) return false;
    const std::uint64_t n = source.n_own + source.n_received;
    const int all_bits = 2 * options_.k;
    int bin_bits = options_.bin_bits > 0 ? options_.bin_bits : bins_.bits_for(n);
    bin_bits = std::max(bin_bits, all_bits - 63);
    if (bin_bits > all_bits || bin_bits + kBitsInBin > options_.size_bits) return false;
    const int rest_bits = all_bits - bin_bits;
    if (bin_bits > 0) {
      Timed timed(stream_, times_.sort_s);
      sort_from(rest_bits, sort_keys_.data(), sorted_.data(), source.n_own);
      if (source.n_received > 0) {
        wait_for_received();
        sort_from(rest_bits, source.received, sorted_.data() + source.n_own, source.n_received);
      }
      timed.stop();
      std::swap(sort_keys_, sorted_);
    } else {
      gather(source);
    }
    Timed timed(stream_, times_.runs_s);
    const auto n_distinct = bins_.count(sort_keys_.data(), source.n_own, n, rest_bits,
                                        1u << bin_bits, sorted_.data(), stream_);
    timed.stop();
    if (!n_distinct) {
      bins_ = BinList();  // the whole sort needs the memory
      source = {n, nullptr, 0};
      return false;
    }
    n_distinct_ = *n_distinct;
    counts_ = bins_.counts();
    return true;
  }

  // Sort keys that a hash spread over all bits differ in their highest ones, or are equal: it
  // is enough to sort by so many that few different sort keys share them, and to look after those
  // few.
  void sort(std::uint64_t n) {
    const int all_bits = 2 * options_.k;
    const int n_bits = options_.size_bits == 0 ? all_bits : std::min(all_bits, bits_to_sort(n));
    const int low_bits = all_bits - n_bits;
    sort_from(low_bits, sort_keys_.data(), sorted_.data(), n);
    if (low_bits == 0) return;
    groups_.reserve(kMaxGroups);
    stream_.fill(flags_.data(), 0, flags_.bytes());
    launch_finish_sort({sorted_.data(), n, low_bits, groups_.data(), kMaxGroups, flags_.data()},
                       stream_);
    if (download(stream_, flags_.data()).gave_up == 0) return;
    std::swap(sort_keys_, sorted_);
    sort_from(0, sort_keys_.data(), sorted_.data(), n);
  }

  void sort_from(int low_bits, const std::uint64_t* from, std::uint64_t* to, std::uint64_t n) {
    if (n == 0) return;
    const int all_bits = 2 * options_.k;
    workspace_.reserve(sort_key_bits_workspace_bytes(n, low_bits, all_bits));
    sort_key_bits(from, to, n, low_bits, all_bits, workspace_.data(), workspace_.bytes(), stream_);
  }

  // Whole bytes, as the sort takes them.
  int bits_to_sort(std::uint64_t n) const {
    if (options_.sort_bits > 0) return options_.sort_bits;
    return (static_cast<int>(std::bit_width(n)) + kSpareBits + 7) / 8 * 8;
  }

  void list_runs(std::uint64_t n) {
    RunsArgs args;
    args.sorted = sorted_.data();
    args.n = n;
    args.distinct = sort_keys_.data();  // the unsorted sort keys are not needed any more
    Timed timed(stream_, times_.runs_s);
    n_distinct_ = runs_.list(args, stream_);
    timed.stop();
    counts_ = runs_.lengths();
  }

  void fetch(std::uint64_t first, std::size_t n, HostCounts& block) override {
    stream_.copy_to_host(block.keys.data(), sort_keys_.data() + first, n * sizeof(std::uint64_t));
    stream_.copy_to_host(block.counts.data(), counts_ + first, n * sizeof(std::uint32_t));
  }

  // Those of this device, or of all that share their texts: kernels read other devices' as well.
  template <class Visit>
  void for_all_chunks(Visit&& visit) const {
    if (all_.empty())
      for (const TextChunk& chunk : text_.chunks()) visit(chunk);
    for (const KeyCounter* counter : all_)
      for (const TextChunk& chunk : counter->text_.chunks()) visit(chunk);
  }

  std::uint64_t n_bases() const override {
    if (all_.empty()) return text_.n_bases();
    std::uint64_t n = 0;
    for (const KeyCounter* counter : all_) n += counter->text_.n_bases();
    return n;
  }

  // A hash gives each part nearly the same number of sort keys, so that room is made before they
  // are counted. Texts are encoded in two steps: what the first makes for others is on its way
  // during the second, and what the second makes while each device sorts its own.
  void exchange_sort_keys() {
    const std::size_t n_parts = all_.size();
    std::uint64_t total_room = 0;
    for (const KeyCounter* counter : all_) total_room += counter->room_for_part();
    for (KeyCounter* counter : all_)
      if (total_room > counter->capacity() / 2) return;
    // Of an exchange that was not taken up, into memory that is allocated again.
    for (KeyCounter* counter : all_)
      if (counter->exchange_) counter->exchange_->settle();
    for (KeyCounter* counter : all_) {
      set_device(counter->device_);
      counter->begin_exchange(total_room);
    }
    constexpr int kSteps = 2;
    for (int step = 0; step < kSteps; ++step) {
      for (KeyCounter* counter : all_) counter->encode_step(step, kSteps);
      bool fits = true;
      for (KeyCounter* counter : all_) fits = counter->finish_step() && fits;
      if (!fits) return;
      for (KeyCounter* from : all_) {
        set_device(from->device_);
        for (std::size_t to = 0; to < n_parts; ++to)
          if (all_[to] != from) from->exchange_->send(to, *all_[to]->exchange_);
      }
    }
    for (KeyCounter* counter : all_) {
      set_device(counter->device_);
      counter->exchange_->finish_sending();
    }
    for (KeyCounter* counter : all_) counter->take_exchanged();
  }

  std::uint64_t room_for_part() const {
    constexpr std::uint64_t kShare = 16;  // more than on average
    const std::uint64_t n = text_.n_bases() / all_.size();
    return n + n / kShare + 4096;
  }

  void begin_exchange(std::uint64_t total_room) {
    if (!exchange_) exchange_ = std::make_unique<KeyExchange>();
    const std::uint64_t room = room_for_part();
    sort_keys_.reserve(total_room);
    exchange_->begin(static_cast<std::size_t>(options_.part), all_.size(), room, total_room - room,
                     sort_keys_.data(), stream_);
  }

  void encode_step(int step, int n_steps) {
    set_device(device_);
    const auto& chunks = text_.chunks();
    const std::size_t n = chunks.size();
    const auto i = static_cast<std::size_t>(step);
    const auto n_all = static_cast<std::size_t>(n_steps);
    encoding_.emplace();
    encoding_->begin.record(stream_);
    for (std::size_t c = n * i / n_all; c < n * (i + 1) / n_all; ++c)
      exchange_->encode(arguments(chunks[c]), stream_);
    encoding_->end.record(stream_);
  }

  bool finish_step() {
    set_device(device_);
    const bool fits = exchange_->finish_encoding(stream_);
    times_.encode_s += encoding_->end.seconds_since(encoding_->begin);
    encoding_.reset();
    return fits;
  }

  void take_exchanged() {
    const auto part = static_cast<std::size_t>(options_.part);
    set_pass({first_range_of(part, all_.size()), first_range_of(part + 1, all_.size()),
              exchange_->n_own() + exchange_->n_received(), true});
  }

  void wait_for_received() {
    for (const KeyCounter* counter : all_)
      if (counter != this) counter->exchange_->wait_for_sent(stream_);
  }

  // Makes sort_keys_ all of them.
  void gather(Source& source) {
    if (source.n_received == 0) return;
    wait_for_received();
    stream_.copy_on_device(sort_keys_.data() + source.n_own, source.received,
                           source.n_received * sizeof(std::uint64_t));
    source = {source.n_own + source.n_received, nullptr, 0};
  }

  struct EventPair {
    Event begin;
    Event end;
  };

  const int device_;
  std::vector<KeyCounter*> all_;  // that share their texts; empty: none do
  std::unique_ptr<KeyExchange> exchange_;
  std::optional<EventPair> encoding_;
  DeviceBuffer<std::uint64_t> tables_;
  DeviceBuffer<std::uint64_t> sort_keys_;  // unsorted, then the distinct ones
  DeviceBuffer<std::uint64_t> sorted_;
  DeviceBuffer<std::uint64_t> groups_;
  DeviceBuffer<FinishSortFlags> flags_;
  RunList runs_;
  BinList bins_;
  const std::uint32_t* counts_ = nullptr;  // of the distinct sort keys, with one of these two
  DeviceBuffer<std::uint8_t> workspace_;
  DeviceBuffer<unsigned long long> counter_;
};

}  // namespace

std::unique_ptr<PassCounter> make_key_counter(const CounterOptions& options) {
  return std::make_unique<KeyCounter>(options);
}

}  // namespace biogpu::gpu::kmer
