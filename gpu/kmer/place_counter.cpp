// Counting for k up to 32: the numbers counted are the places in the database's order.
#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "gpu/kmer/bin_list.hpp"
#include "gpu/kmer/counter.hpp"
#include "gpu/kmer/finish_sort.hpp"
#include "gpu/kmer/places.hpp"
#include "gpu/kmer/run_list.hpp"
#include "gpu/kmer/timed.hpp"
#include "gpu/prim/device_sort.hpp"
#include "gpu/rt/device.hpp"

namespace biogpu::gpu::kmer {
namespace {

// Sort input, output, the sort's own copy, run begins and lengths. Bins take less.
constexpr std::uint64_t kBytesPerPlace = 4 * sizeof(std::uint64_t) + sizeof(std::uint32_t);
// Of n different places about n / 2^(1 + kSpareBits) then share what was sorted by with another.
constexpr int kSpareBits = 9;
constexpr std::uint32_t kMaxGroups = 1u << 20;
// Bits of a hash below those that bins are cut by, at least: values in a bin are then spread
// evenly.
constexpr int kBitsInBin = 8;

class PlaceCounter : public Counter {
 public:
  explicit PlaceCounter(const CounterOptions& options)
      : Counter(options, kBytesPerPlace, SIZE_MAX),
        device_(current_device()),
        tables_(options.tables.size()),
        flags_(1),
        counter_(1) {
    stream_.copy_to_device(tables_.data(), options_.tables.data(), tables_.bytes());
    stream_.synchronize();
  }

  bool share_texts(const std::vector<Counter*>& all) override {
    std::vector<PlaceCounter*> counters;
    for (Counter* counter : all) counters.push_back(static_cast<PlaceCounter*>(counter));
    if (counters.size() > kMaxParts) return false;
    for (const PlaceCounter* from : counters)
      for (const PlaceCounter* to : counters)
        if (!enable_peer_access(from->device_, to->device_)) return false;
    for (PlaceCounter* counter : counters) counter->all_ = counters;
    return true;
  }

  // Each device places its own texts, and writes the places to the devices of their parts. Where
  // that does not suit, nothing is sent: each device then goes through the texts of all.
  void exchange() override {
    for (PlaceCounter* counter : all_) {
      set_device(counter->device_);
      counter->text_.flush(counter->stream_);
    }
    if (options_.size_bits > 0 && n_bases() > 0) exchange_places();
    set_device(device_);
  }

 private:
  PlacesArgs arguments(const TextChunk& chunk) const {
    PlacesArgs args;
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

  std::uint64_t place_all(const Pass& pass) {
    places_.reserve(pass.n);
    stream_.fill(counter_.data(), 0, counter_.bytes());
    Timed timed(stream_, times_.place_s);
    for_all_chunks([&](const TextChunk& chunk) {
      PlacesArgs args = arguments(chunk);
      args.first_range = pass.first_range;
      args.last_range = pass.last_range;
      args.places = places_.data();
      args.capacity = pass.n;
      args.n_places = counter_.data();
      launch_places(args, stream_);
    });
    timed.stop();
    unsigned long long n = 0;
    stream_.copy_to_host(&n, counter_.data(), sizeof n);
    stream_.synchronize();
    return n;
  }

  void run(const Pass& pass) override {
    const std::uint64_t n = pass.is_placed ? pass.n : place_all(pass);
    n_windows_ += n;
    if (n == 0) return;
    sorted_.reserve(n);
    if (!count_in_bins(n)) {
      Timed timed(stream_, times_.sort_s);
      sort(n);
      timed.stop();
      list_runs(n);
    }
    note_bytes(places_.bytes() + sorted_.bytes() + workspace_.bytes() + runs_.bytes() +
               bins_.bytes());
  }

  // Places that a hash spread are sorted by their highest bits only, which cuts them into bins that
  // are counted in shared memory. False where that is not possible; places_ has them still.
  bool count_in_bins(std::uint64_t n) {
    if (options_.size_bits == 0 || options_.sort_bits > 0) return false;
    const int all_bits = 2 * options_.k;
    int bin_bits = options_.bin_bits > 0 ? options_.bin_bits : bins_.bits_for(n);
    bin_bits = std::max(bin_bits, all_bits - 63);
    if (bin_bits > all_bits || bin_bits + kBitsInBin > options_.size_bits) return false;
    if (bin_bits > 0) {
      Timed timed(stream_, times_.sort_s);
      sort_from(all_bits - bin_bits, n);
      timed.stop();
      std::swap(places_, sorted_);
    }
    Timed timed(stream_, times_.runs_s);
    const auto n_distinct = bins_.count(places_.data(), n, all_bits - bin_bits, 1u << bin_bits,
                                        sorted_.data(), stream_);
    timed.stop();
    if (!n_distinct) {
      bins_ = BinList();  // the whole sort needs the memory
      return false;
    }
    n_distinct_ = *n_distinct;
    counts_ = bins_.counts();
    return true;
  }

  // Places that a hash spread over all bits differ in their highest ones, or are equal: it is
  // enough to sort by so many that few different places share them, and to look after those few.
  void sort(std::uint64_t n) {
    const int all_bits = 2 * options_.k;
    const int n_bits = options_.size_bits == 0 ? all_bits : std::min(all_bits, bits_to_sort(n));
    const int low_bits = all_bits - n_bits;
    sort_from(low_bits, n);
    if (low_bits == 0) return;
    groups_.reserve(kMaxGroups);
    stream_.fill(flags_.data(), 0, flags_.bytes());
    launch_finish_sort({sorted_.data(), n, low_bits, groups_.data(), kMaxGroups, flags_.data()},
                       stream_);
    FinishSortFlags flags;
    stream_.copy_to_host(&flags, flags_.data(), sizeof flags);
    stream_.synchronize();
    if (flags.gave_up == 0) return;
    std::swap(places_, sorted_);
    sort_from(0, n);
  }

  void sort_from(int low_bits, std::uint64_t n) {
    const int all_bits = 2 * options_.k;
    workspace_.reserve(sort_key_bits_workspace_bytes(n, low_bits, all_bits));
    sort_key_bits(places_.data(), sorted_.data(), n, low_bits, all_bits, workspace_.data(),
                  workspace_.bytes(), stream_);
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
    args.distinct = places_.data();  // the unsorted places are not needed any more
    Timed timed(stream_, times_.runs_s);
    n_distinct_ = runs_.list(args, stream_);
    timed.stop();
    counts_ = runs_.lengths();
  }

  void fetch(std::uint64_t first, std::size_t n, HostBlock& block) override {
    stream_.copy_to_host(block.keys.data(), places_.data() + first, n * sizeof(std::uint64_t));
    stream_.copy_to_host(block.counts.data(), counts_ + first, n * sizeof(std::uint32_t));
  }

  // Those of this device, or of all that share their texts: kernels read other devices' as well.
  template <class Visit>
  void for_all_chunks(Visit&& visit) const {
    if (all_.empty())
      for (const TextChunk& chunk : text_.chunks()) visit(chunk);
    for (const PlaceCounter* counter : all_)
      for (const TextChunk& chunk : counter->text_.chunks()) visit(chunk);
  }

  std::uint64_t n_bases() const override {
    if (all_.empty()) return text_.n_bases();
    std::uint64_t n = 0;
    for (const PlaceCounter* counter : all_) n += counter->text_.n_bases();
    return n;
  }

  // A hash gives each part nearly the same number of places, so that room is made before they are
  // counted: a region for each device they come from.
  void exchange_places() {
    const std::size_t n_parts = all_.size();
    std::vector<std::uint64_t> room(n_parts);
    std::uint64_t total_room = 0;
    for (std::size_t from = 0; from < n_parts; ++from)
      total_room += room[from] = room_for(all_[from]->text_.n_bases(), n_parts);
    for (PlaceCounter* counter : all_) {
      set_device(counter->device_);
      if (total_room > counter->capacity()) return;
      counter->places_.reserve(total_room);
      counter->n_in_parts_.reserve(n_parts);
      counter->stream_.fill(counter->n_in_parts_.data(), 0, n_parts * sizeof(unsigned long long));
      counter->stream_.synchronize();  // before others write there
    }
    std::uint64_t begin = 0;
    for (std::size_t from = 0; from < n_parts; begin += room[from++])
      all_[from]->send_places(begin, room[from]);
    std::vector<std::vector<unsigned long long>> n_sent(n_parts);
    bool fits = true;
    for (std::size_t from = 0; from < n_parts; ++from) {
      n_sent[from] = all_[from]->finish_sending();
      for (const unsigned long long n : n_sent[from]) fits = fits && n <= room[from];
    }
    if (!fits) return;
    for (std::size_t to = 0; to < n_parts; ++to) {
      std::vector<std::uint64_t> n_received(n_parts);
      for (std::size_t from = 0; from < n_parts; ++from) n_received[from] = n_sent[from][to];
      set_device(all_[to]->device_);
      all_[to]->close_gaps(room, n_received);
    }
  }

  static std::uint64_t room_for(std::uint64_t n_windows, std::size_t n_parts) {
    constexpr std::uint64_t kShare = 16;  // more than on average
    return n_windows / n_parts + n_windows / n_parts / kShare + 4096;
  }

  // Queues what fills, in each part's memory, the places [begin, begin + n).
  void send_places(std::uint64_t begin, std::uint64_t n) {
    set_device(device_);
    PlacesToPartsArgs args;
    args.n_parts = static_cast<unsigned>(all_.size());
    for (std::size_t to = 0; to < all_.size(); ++to) {
      args.places[to] = all_[to]->places_.data() + begin;
      args.first_range[to + 1] = first_range_of(to + 1, all_.size());
    }
    args.capacity = n;
    args.n_places = n_in_parts_.data();
    sending_.emplace();
    sending_->begin.record(stream_);
    for (const TextChunk& chunk : text_.chunks()) {
      args.text = arguments(chunk);
      launch_places_to_parts(args, stream_);
    }
    sending_->end.record(stream_);
  }

  // How many places went to each part.
  std::vector<unsigned long long> finish_sending() {
    set_device(device_);
    std::vector<unsigned long long> n(all_.size());
    stream_.copy_to_host(n.data(), n_in_parts_.data(), n.size() * sizeof n[0]);
    stream_.synchronize();
    times_.place_s += sending_->end.seconds_since(sending_->begin);
    sending_.reset();
    return n;
  }

  // Moves the last places of each region to the gap before it.
  void close_gaps(const std::vector<std::uint64_t>& room, const std::vector<std::uint64_t>& n) {
    std::uint64_t* const places = places_.data();
    std::uint64_t end = 0;
    std::uint64_t begin = 0;
    for (std::size_t from = 0; from < room.size(); begin += room[from++]) {
      const std::uint64_t n_moved = std::min(begin - end, n[from]);
      const std::uint64_t n_left = n[from] - n_moved;
      if (n_moved > 0)
        stream_.copy_on_device(places + end, places + begin + n_left,
                               n_moved * sizeof(std::uint64_t));
      end = n_left > 0 ? begin + n_left : end + n_moved;
    }
    const auto part = static_cast<std::size_t>(options_.part);
    const auto n_parts = static_cast<std::size_t>(options_.n_parts);
    set_pass({first_range_of(part, n_parts), first_range_of(part + 1, n_parts), end, true});
  }

  struct Sending {
    Event begin;
    Event end;
  };

  const int device_;
  std::vector<PlaceCounter*> all_;  // that share their texts; empty: none do
  std::optional<Sending> sending_;
  DeviceBuffer<unsigned long long> n_in_parts_;  // places sent
  DeviceBuffer<std::uint64_t> tables_;
  DeviceBuffer<std::uint64_t> places_;  // unsorted, then the distinct ones
  DeviceBuffer<std::uint64_t> sorted_;
  DeviceBuffer<std::uint64_t> groups_;
  DeviceBuffer<FinishSortFlags> flags_;
  RunList runs_;
  BinList bins_;
  const std::uint32_t* counts_ = nullptr;  // of the distinct places, with one of these two
  DeviceBuffer<std::uint8_t> workspace_;
  DeviceBuffer<unsigned long long> counter_;
};

}  // namespace

std::unique_ptr<Counter> make_place_counter(const CounterOptions& options) {
  return std::make_unique<PlaceCounter>(options);
}

}  // namespace biogpu::gpu::kmer
