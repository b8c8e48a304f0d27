#include "apps/biogpu-bench/kmer_bench.hpp"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/parallel_for.hpp"
#include "lib/io/output_file.hpp"
#include "lib/kmer/count/cpu_counter.hpp"
#include "lib/kmer/device/device_counter.hpp"
#include "lib/kmer/device/device_lookup.hpp"

namespace biogpu::bench {
namespace {

using Words = std::vector<std::uint64_t>;

constexpr std::size_t kReadLength = 150;
constexpr std::size_t kBlock = 1u << 20;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// SplitMix64: entry i of a sequence of random numbers, so that threads need no state.
std::uint64_t random_number(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t x = seed + (i + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// Reads of a random genome, both strands, one base in a thousand replaced, N behind each.
std::string random_reads(std::size_t n_reads, std::size_t genome_bases) {
  std::string genome(genome_bases, 'A');
  tbb::parallel_for(std::size_t{0}, genome_bases,
                    [&](std::size_t i) { genome[i] = "ACGT"[random_number(1, i) & 3]; });
  std::string text(n_reads * (kReadLength + 1), 'N');
  tbb::parallel_for(std::size_t{0}, n_reads, [&](std::size_t r) {
    const std::uint64_t random = random_number(2, r);
    const char* const from = genome.data() + (random >> 1) % (genome_bases - kReadLength + 1);
    char* const to = text.data() + r * (kReadLength + 1);
    for (std::size_t i = 0; i < kReadLength; ++i) {
      const std::size_t at = (random & 1) != 0 ? kReadLength - 1 - i : i;
      const char base = from[at];
      to[i] = (random & 1) == 0 ? base
              : base == 'A'     ? 'T'
              : base == 'C'     ? 'G'
              : base == 'G'     ? 'C'
                                : 'A';
    }
    for (std::size_t i = 0; i < kReadLength; ++i) {
      const std::uint64_t draw = random_number(3, r * kReadLength + i);
      if (draw % 1000 == 0) to[i] = "ACGT"[draw >> 32 & 3];
    }
  });
  return text;
}

std::string text_of(const KmerBenchSettings& settings) {
  return settings.quick ? random_reads(100, 3000) : random_reads(4000000, 100000000);
}

class KmerBench {
 public:
  explicit KmerBench(const KmerBenchSettings& settings)
      : settings_(settings), arena_(arena_threads(static_cast<std::size_t>(settings.n_threads))) {}

  std::vector<Figure> all() {
    std::string text;
    for (const int k : {21, 31, 55, 127}) {
      if (!wanted(count_name(k))) continue;
      if (text.empty()) arena_.execute([&] { text = text_of(settings_); });
      count(k, text);
    }
    for (const int k : {21, 31}) {
      if (settings_.n_devices == 1 || !wanted(devices_name(k, settings_.n_devices))) continue;
      if (text.empty()) arena_.execute([&] { text = text_of(settings_); });
      if (count_together(k, text, 1) != count_together(k, text, settings_.n_devices))
        throw Error(ErrorCode::failed, count_name(k) + ": devices together count otherwise");
    }
    if (wanted("look-up")) look_up();
    return std::move(figures_);
  }

 private:
  static std::string count_name(int k) { return fmt::format("count k={}", k); }
  static std::string devices_name(int k, int n_devices) {
    return fmt::format("{}, {} device{}", count_name(k), n_devices, n_devices == 1 ? "" : "s");
  }
  bool wanted(const std::string& name) const {
    return name.find(settings_.only) != std::string::npos;
  }

  void add(std::string name, std::string unit, std::string how, std::vector<double> runs) {
    Figure figure;
    figure.name = std::move(name);
    figure.unit = std::move(unit);
    figure.how = std::move(how);
    figures_.push_back(summarise(std::move(figure), std::move(runs)));
  }

  static kmer::KeyOrder order_for(int k) { return kmer::KeyOrder::jellyfish(k, 27, false); }

  std::unique_ptr<kmer::DeviceCounter> make_counter(int k) const {
    kmer::DeviceCounterOptions options;
    options.canonical = true;
    options.order = order_for(k);
    return kmer::make_device_counter(settings_.device, options);
  }

  void count(int k, const std::string& text) {
    compare_counts(k, std::string_view(text).substr(0, 1000000));
    const auto counter = make_counter(k);
    const std::vector<kmer::PackedText> packed = pack(k, text);
    std::vector<double> on_device;
    for (int i = -1; i < 5; ++i) {
      counter->clear();
      for (const kmer::PackedText& some : packed) counter->add(some);
      const kmer::DeviceCountTimes before = counter->times();
      counter->prepare();
      const kmer::DeviceCountTimes after = counter->times();
      const double seconds = after.encode_s - before.encode_s + after.sort_s - before.sort_s +
                             after.runs_s - before.runs_s;
      if (i < 0) continue;  // warms clocks and memory
      on_device.push_back(1e-9 * static_cast<double>(counter->n_windows()) / seconds);
      if (i == 4) add_stages(k, before, after);
    }
    add(count_name(k) + ", device", "G k-mers/s",
        fmt::format("{} canonical k-mers of reads of 150, text on the device to distinct k-mers "
                    "and counts on it; a sample compared with the CPU",
                    counter->n_windows()),
        on_device);
  }

  using Counters = std::vector<std::unique_ptr<kmer::DeviceCounter>>;

  // Seconds from texts on devices to k-mers and counts on them.
  static double time_together(const Counters& counters, bool share) {
    for (const auto& counter : counters) counter->flush();
    const double before = now();
    if (share) counters[0]->exchange();
    std::vector<std::future<void>> preparing;
    for (const auto& counter : counters)
      preparing.push_back(std::async(std::launch::async, [&counter] { counter->prepare(); }));
    for (auto& one : preparing) one.get();  // or throws what the thread threw
    return now() - before;
  }

  // Measures n devices by the clock; returns a sum of all that they counted.
  std::uint64_t count_together(int k, const std::string& text, int n_devices) {
    Counters counters;
    std::vector<kmer::DeviceCounter*> all;
    for (int part = 0; part < n_devices; ++part) {
      kmer::DeviceCounterOptions options;
      options.canonical = true;
      options.order = order_for(k);
      options.part = part;
      options.n_parts = n_devices;
      counters.push_back(kmer::make_device_counter(settings_.device + part, options));
      all.push_back(counters.back().get());
    }
    const bool share = n_devices > 1 && all[0]->share_texts(all);
    const std::vector<kmer::PackedText> packed = pack(k, text);
    std::vector<double> runs;
    std::uint64_t n_windows = 0;
    kmer::DeviceCountTimes first;
    for (int i = -1; i < 5; ++i) {
      for (const auto& counter : counters) counter->clear();
      for (std::size_t t = 0; t < packed.size(); ++t)
        for (std::size_t c = 0; c < all.size(); ++c)
          if (!share || t % all.size() == c) all[c]->add(packed[t]);
      first = all[0]->times();
      const double seconds = time_together(counters, share);
      n_windows = 0;
      for (const auto& counter : counters) n_windows += counter->n_windows();
      if (i >= 0) runs.push_back(1e-9 * static_cast<double>(n_windows) / seconds);
    }
    const kmer::DeviceCountTimes last = all[0]->times();
    const std::string name = devices_name(k, n_devices);
    add(name + ", by the clock", "G k-mers/s",
        fmt::format("{} canonical k-mers of reads of 150, text on the device{} to distinct k-mers "
                    "and counts there, {}; the same k-mers and counts as of one",
                    n_windows, n_devices == 1 ? "" : "s",
                    n_devices == 1 ? "alone"
                    : share        ? "texts shared"
                                   : "all texts on each"),
        runs);
    for (const auto& [stage, seconds] : {std::pair{"place", last.encode_s - first.encode_s},
                                         std::pair{"sort", last.sort_s - first.sort_s},
                                         std::pair{"runs", last.runs_s - first.runs_s}})
      add(fmt::format("{}, {}", name, stage), "ms", "a stage of it on the first device",
          {1e3 * seconds});
    return sum_of(counters);
  }

  static std::uint64_t sum_of(const Counters& counters) {
    std::uint64_t sum = 0;
    std::uint64_t n = 0;
    kmer::CountBlock block;
    for (const auto& counter : counters)
      while (counter->next(kBlock, block.keys, block.counts) > 0)
        for (std::size_t i = 0; i < block.counts.size(); ++i)
          sum += random_number(block.keys[i] ^ block.counts[i] << 40, n++);
    return sum;
  }

  static std::vector<kmer::PackedText> pack(int k, std::string_view text) {
    std::vector<kmer::PackedText> packed;
    kmer::TextPacker(k, 0, kmer::DeviceCounter::kMaxLetters)
        .pack([&](const kmer::AddSequence& add) { add(text, {}); },
              [&](kmer::PackedText some) { packed.push_back(std::move(some)); });
    return packed;
  }

  void add_stages(int k, const kmer::DeviceCountTimes& before,
                  const kmer::DeviceCountTimes& after) {
    const std::pair<const char*, double> stages[] = {{"place", after.encode_s - before.encode_s},
                                                     {"sort", after.sort_s - before.sort_s},
                                                     {"runs", after.runs_s - before.runs_s}};
    for (const auto& [name, seconds] : stages)
      add(fmt::format("{}, {}", count_name(k), name), "ms", "a stage of it", {1e3 * seconds});
  }

  // k-mers and counts of a small text, from both devices.
  void compare_counts(int k, std::string_view text) {
    kmer::CountOptions options;
    options.k = k;
    options.canonical = true;
    options.order = order_for(k);
    options.n_threads = settings_.n_threads;
    kmer::CpuCounter cpu(options);
    cpu.add([&](const kmer::AddSequence& add) { add(text, {}); });
    cpu.finish();
    std::map<Words, std::uint64_t> expected;
    for (kmer::Counter::Bucket bucket; cpu.next(bucket);) {
      cpu.fetch(bucket);
      const kmer::CountBlock& counts = bucket.counts;
      for (std::size_t i = 0; i < counts.size(); ++i)
        expected[{counts.key(i), counts.key(i) + counts.n_words}] = counts.counts[i];
    }
    kmer::CountBlock block;
    const auto counter = make_counter(k);
    for (const kmer::PackedText& some : pack(k, text)) counter->add(some);
    std::map<Words, std::uint64_t> found;
    const auto n_words = static_cast<std::size_t>(kmer::words_for(k));
    while (counter->next(kBlock, block.keys, block.counts) > 0)
      for (std::size_t i = 0; i < block.counts.size(); ++i) {
        Words key(block.keys.data() + i * n_words, block.keys.data() + (i + 1) * n_words);
        if (n_words == 1) key[0] = options.order.decode(kmer::Key<1>{{key[0]}}).word[0];
        found[key] += block.counts[i];
      }
    if (found != expected)
      throw Error(ErrorCode::failed, count_name(k) + ": the GPU's counts differ from the CPU's");
  }

  // Half of the keys are in the table.
  void look_up() {
    constexpr int kLength = 31;
    constexpr std::uint64_t kSortKeys = std::uint64_t{1} << 2 * kLength;
    const std::size_t n_keys = settings_.quick ? 5000 : 80000000;
    const std::size_t n_look_ups = settings_.quick ? 20000 : 200000000;
    const kmer::KeyOrder order = order_for(kLength);
    Words keys(n_keys);
    Words counts(n_keys);
    std::uint64_t sort_key = 0;
    for (std::size_t i = 0; i < n_keys; ++i) {
      sort_key += 1 + random_number(4, i) % (2 * (kSortKeys / n_keys) - 2);
      keys[i] = sort_key % kSortKeys;
      counts[i] = i % 1000 + 1;
    }
    while (!keys.empty() && keys.back() < keys.front()) keys.pop_back();
    std::sort(keys.begin(), keys.end());
    counts.resize(keys.size());
    Words wanted_keys(n_look_ups);
    Words expected(n_look_ups);
    arena_.execute([&] {
      tbb::parallel_for(std::size_t{0}, keys.size(), [&](std::size_t i) {
        keys[i] = order.decode(kmer::Key<1>{{keys[i]}}).word[0];
      });
      tbb::parallel_for(std::size_t{0}, n_look_ups, [&](std::size_t i) {
        const std::uint64_t random = random_number(5, i);
        const std::size_t at = (random >> 1) % keys.size();
        const bool present = (random & 1) != 0;
        wanted_keys[i] = present ? keys[at] : random_number(6, i) % kSortKeys;
        expected[i] = present ? counts[at] : 0;  // a random key is in the table once in 10^10
      });
    });
    const auto table = kmer::make_device_lookup(settings_.device, order, keys.size());
    for (std::size_t begin = 0; begin < keys.size(); begin += kBlock) {
      const std::size_t n = std::min(kBlock, keys.size() - begin);
      table->append(std::span(keys).subspan(begin, n), std::span(counts).subspan(begin, n));
    }
    table->finish();
    time_look_ups(*table, wanted_keys, expected, keys.size());
  }

  void time_look_ups(kmer::DeviceLookup& table, const Words& keys, const Words& expected,
                     std::size_t n_keys) {
    Words found(keys.size());
    std::vector<double> on_device, host_to_host;
    for (int i = -1; i < 3; ++i) {
      const double before = now();
      arena_.execute([&] {
        tbb::parallel_for(
            tbb::blocked_range<std::size_t>(0, keys.size(), kBlock),
            [&](const tbb::blocked_range<std::size_t>& range) {
              table.find(keys.data() + range.begin(),
                         std::span(found).subspan(range.begin(), range.size()));
            },
            tbb::simple_partitioner());
      });
      const double seconds = now() - before;
      if (i < 0 && found != expected)
        throw Error(ErrorCode::failed, "look-up: counts differ from those put in");
      if (i >= 0) host_to_host.push_back(1e-6 * static_cast<double>(keys.size()) / seconds);
    }
    // One stream, so that no kernel waits for another's.
    const std::span<std::uint64_t> some =
        std::span(found).first(std::min(found.size(), 32 * kBlock));
    for (int i = 0; i < 5; ++i) {
      const double before = table.find_s();
      table.find(keys.data(), some);
      on_device.push_back(1e-6 * static_cast<double>(some.size()) / (table.find_s() - before));
    }
    const std::string how =
        fmt::format("{} random look-ups of k=31, half of them present, in {} k-mers; all compared",
                    keys.size(), n_keys);
    add("look-up, device", "M look-ups/s", how + "; kernels alone", on_device);
    add("look-up, host to host", "M look-ups/s", how + "; keys in memory to counts in memory",
        host_to_host);
  }

  const KmerBenchSettings settings_;
  tbb::task_arena arena_;
  std::vector<Figure> figures_;
};

}  // namespace

void write_kmer_reads(const KmerBenchSettings& settings, const std::string& path) {
  tbb::task_arena arena(arena_threads(static_cast<std::size_t>(settings.n_threads)));
  std::string text;
  arena.execute([&] { text = text_of(settings); });
  io::OutputFile out(path);
  const std::string rest = "\n+\n" + std::string(kReadLength, 'I') + "\n";
  std::string records;
  for (std::size_t r = 0; r * (kReadLength + 1) < text.size(); ++r) {
    records += fmt::format("@r{}\n", r);
    records.append(text, r * (kReadLength + 1), kReadLength);
    records += rest;
    if (records.size() < kBlock) continue;
    out.write(records);
    records.clear();
  }
  out.write(records);
  out.commit();
}

std::vector<Figure> measure_kmer(const KmerBenchSettings& settings) {
  return KmerBench(settings).all();
}

}  // namespace biogpu::bench
