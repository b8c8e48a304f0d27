// Every counter through the one interface: the CPU's, and where a GPU backend is linked, a device
// alone, two that share the k-mers, and one with little memory. Compiled into kmer_counter_test and
// into kmer_gpu_test.
#include "lib/kmer/count/counter.hpp"

#include <cstdlib>
#include <functional>
#include <memory>

#include "lib/core/device.hpp"
#include "lib/kmer/count/cpu_counter.hpp"
#include "lib/kmer/count/multi_gpu_counter.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/kmer/naive.hpp"

using namespace biogpu;

namespace {

struct CounterKind {
  std::string name;
  bool has_room = true;  // for many k-mers of one range
  std::function<std::unique_ptr<kmer::Counter>(const kmer::CountOptions&)> make;
};

CounterKind gpu_kind(std::string name, std::vector<int> devices, std::uint64_t max_bytes) {
  return {std::move(name), max_bytes == 0,
          [devices = std::move(devices), max_bytes](const kmer::CountOptions& options) {
            return std::make_unique<kmer::MultiGpuCounter>(options, devices, max_bytes);
          }};
}

std::vector<CounterKind> counter_kinds() {
  std::vector<CounterKind> kinds{{"cpu", true, [](const kmer::CountOptions& options) {
                                    return std::make_unique<kmer::CpuCounter>(options);
                                  }}};
  std::string why;
  const auto devices = list_devices(&why);
  if (devices.empty() || !devices[0].usable) {
    if (std::getenv("BIOGPU_REQUIRE_GPU") != nullptr) FAIL("a GPU is required: " << why);
    return kinds;
  }
  kinds.push_back(gpu_kind("gpu", {0}, 0));
  kinds.push_back(gpu_kind("two gpus", {0, devices.size() > 1 && devices[1].usable ? 1 : 0}, 0));
  kinds.push_back(gpu_kind("gpu with little memory", {0}, 200000));
  return kinds;
}

kmer::CountOptions options_for(const kmer::KeyOrder& order, bool canonical) {
  kmer::CountOptions options;
  options.k = order.k();
  options.canonical = canonical;
  options.order = order;
  options.n_threads = 2;
  return options;
}

using Pairs = std::vector<std::pair<std::string, std::uint64_t>>;

Pairs count(const CounterKind& kind, const kmer::CountOptions& options,
            const std::vector<std::string>& sequences) {
  const auto counter = kind.make(options);
  test::add_all(*counter, sequences);
  counter->finish();
  return test::all_of(*counter, options.k);
}

// The k-mers in an order, as plain code sorts them.
Pairs sorted(const test::NaiveCounts& counts, const kmer::KeyOrder& order) {
  Pairs pairs(counts.begin(), counts.end());
  kmer::with_words(order.k(), [&]<int kWords>() {
    const auto sort_key = [&](const std::string& letters) {
      kmer::Key<kWords> key;
      for (const char c : letters) {
        key = kmer::shift_left(key, 2);
        key.word[kWords - 1] |= std::string_view("ACGT").find(c);
      }
      return order.encode(key);
    };
    std::stable_sort(pairs.begin(), pairs.end(), [&](const auto& a, const auto& b) {
      return sort_key(a.first) < sort_key(b.first);
    });
  });
  return pairs;
}

}  // namespace

TEST_CASE("kmer.counter: equals plain counting on every device", "[kmer][device]") {
  const auto sequences = test::tricky_sequences(21, 900);
  for (const int k : {1, 9, 21, 31, 32, 33, 64, 65, 129})
    for (const bool canonical : {false, true}) {
      test::NaiveCounts counts;
      for (const std::string& s : sequences) test::count_naively(s, k, canonical, counts);
      for (const bool is_hashed : {false, true}) {
        const auto order = is_hashed ? kmer::KeyOrder::jellyfish(k, std::min(2 * k, 17), false)
                                     : kmer::KeyOrder::lexicographic(k);
        const Pairs expected = sorted(counts, order);
        for (const CounterKind& kind : counter_kinds()) {
          if (k == 1 && !kind.has_room) continue;  // four ranges hold all k-mers
          CAPTURE(kind.name, k, canonical, is_hashed);
          CHECK(count(kind, options_for(order, canonical), sequences) == expected);
        }
      }
    }
}

TEST_CASE("kmer.counter: of a k-mer and its reverse complement the smaller is counted",
          "[kmer][device]") {
  const auto options = options_for(kmer::KeyOrder::lexicographic(5), true);
  for (const CounterKind& kind : counter_kinds()) {
    CAPTURE(kind.name);
    // GGTCA and TGACC are one k-mer, TTTTT and AAAAA another.
    CHECK(count(kind, options, {"TGACC", "GGTCA", "ggtca", "TTTTT", "AAAAA", "TTTTT"}) ==
          Pairs{{"AAAAA", 3}, {"GGTCA", 3}});
  }
}

TEST_CASE("kmer.counter: bounds and qualities leave k-mers out", "[kmer][device]") {
  for (const CounterKind& kind : counter_kinds()) {
    CAPTURE(kind.name);
    auto options = options_for(kmer::KeyOrder::lexicographic(3), false);
    options.lower = 2;
    options.upper = 3;
    CHECK(count(kind, options, {"AAAAAA", "CCC", "GGGGG"}) == Pairs{{"GGG", 3}});

    options = options_for(kmer::KeyOrder::lexicographic(2), false);
    options.min_quality_symbol = '5';
    const auto counter = kind.make(options);
    counter->add([](const kmer::AddSequence& add) { add("ACGTA", "55455"); });
    counter->finish();
    CHECK(test::all_of(*counter, 2) == Pairs{{"AC", 1}, {"TA", 1}});
  }
}

// A slot of the CPU's table counts to 2^16 - 1, and a device's bins hold fewer k-mers than this.
TEST_CASE("kmer.counter: a k-mer that fills its counter more than once", "[kmer][device]") {
  for (const CounterKind& kind : counter_kinds())
    for (const int k : {3, 40, 100}) {
      if (!kind.has_room) continue;
      CAPTURE(kind.name, k);
      const std::string a(static_cast<std::size_t>(k), 'A');
      const std::string c(static_cast<std::size_t>(k), 'C');
      const std::size_t n = 140'000;
      CHECK(count(kind, options_for(kmer::KeyOrder::lexicographic(k), true),
                  {std::string(n + a.size() - 1, 'T'), std::string(65536 + c.size() - 1, 'C')}) ==
            Pairs{{a, n}, {c, 65536}});
    }
}

TEST_CASE("kmer.counter: totals hold what bounds leave out", "[kmer][device]") {
  for (const CounterKind& kind : counter_kinds()) {
    CAPTURE(kind.name);
    auto options = options_for(kmer::KeyOrder::lexicographic(2), false);
    options.lower = 2;
    const auto counter = kind.make(options);
    test::add_all(*counter, {"AAAAC"});
    counter->finish();
    CHECK(test::all_of(*counter, 2) == Pairs{{"AA", 3}});
    CHECK(counter->totals().n_windows == 4);
    CHECK(counter->totals().n_distinct == 2);
    CHECK(counter->device_usage().has_value() == (kind.name != "cpu"));
  }
}
