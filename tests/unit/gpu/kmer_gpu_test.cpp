#include <algorithm>
#include <map>

#include "gpu/kmer/counter.hpp"
#include "lib/kmer/order/key_order.hpp"
#include "lib/kmer/sequence_keys.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/gpu/gpu_support.hpp"
#include "tests/unit/kmer/naive.hpp"

using namespace biogpu;

namespace {

using Places = std::map<std::uint64_t, std::uint64_t>;

// What the device has to find, by the CPU's plain code.
Places expected_places(const std::string& text, const kmer::KeyOrder& order, bool canonical) {
  std::vector<std::uint64_t> keys;
  kmer::append_keys(text, order.k(), canonical, keys);
  Places places;
  for (const std::uint64_t key : keys) ++places[order.place(kmer::Key<1>{{key}}).word[0]];
  return places;
}

gpu::kmer::CounterOptions options_for(const kmer::KeyOrder& order, bool canonical) {
  gpu::kmer::CounterOptions options;
  options.k = order.k();
  options.canonical = canonical;
  options.stage_bytes = 4096;  // so that texts are cut
  if (order.keeps_keys()) return options;
  options.size_bits = order.size_bits();
  for (const auto& table : order.position_tables())
    options.tables.insert(options.tables.end(), table.begin(), table.end());
  return options;
}

// All that is left in the counter; checks that places ascend.
Places take_all(gpu::kmer::Counter& counter, std::size_t step) {
  Places all;
  std::vector<std::uint64_t> places;
  std::vector<std::uint64_t> counts;
  std::uint64_t last = 0;
  bool ascending = true;
  while (const std::size_t n = counter.next(step, places, counts)) {
    for (std::size_t i = 0; i < n; ++i) {
      ascending = ascending && (all.empty() || places[i] > last);
      last = places[i];
      all[places[i]] += counts[i];
    }
  }
  CHECK(ascending);
  return all;
}

std::string joined(const std::vector<std::string>& sequences) {
  std::string text;
  for (const std::string& sequence : sequences) text += sequence + "N";
  return text;
}

}  // namespace

TEST_CASE("kmer.counter gpu: equals plain counting", "[kmer][gpu][device]") {
  if (!test::has_gpu()) return;
  const std::string text = joined(test::tricky_sequences(21, 1500));
  for (const int k : {1, 2, 4, 6, 9, 15, 16, 17, 21, 31, 32})
    for (const bool canonical : {false, true}) {
      CAPTURE(k, canonical);
      for (const int size_bits : {0, 5, 17}) {
        if (size_bits > 2 * k) continue;
        const auto order = size_bits == 0 ? kmer::KeyOrder::lexicographic(k)
                                          : kmer::KeyOrder::jellyfish(k, size_bits, false);
        gpu::kmer::Counter counter(options_for(order, canonical));
        REQUIRE(counter.add(text.data(), text.size()));
        const Places expected = expected_places(text, order, canonical);
        CHECK(take_all(counter, 1000) == expected);
        std::uint64_t n = 0;
        for (const auto& entry : expected) n += entry.second;
        CHECK(counter.n_windows() == n);
      }
    }
}

TEST_CASE("kmer.counter gpu: texts of every length around a word", "[kmer][gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 rng(5);
  const auto order = kmer::KeyOrder::lexicographic(5);
  for (std::size_t n = 0; n < 70; ++n) {
    CAPTURE(n);
    const std::string text = test::random_letters(rng, n, "ACGTACGTACGTN");
    gpu::kmer::Counter counter(options_for(order, false));
    REQUIRE(counter.add(text.data(), text.size()));
    CHECK(take_all(counter, 7) == expected_places(text, order, false));
  }
}

TEST_CASE("kmer.counter gpu: ranges, parts and refills change nothing", "[kmer][gpu][device]") {
  if (!test::has_gpu()) return;
  const std::string text = joined(test::tricky_sequences(22, 3000));
  const auto order = kmer::KeyOrder::jellyfish(21, 20, false);
  const Places expected = expected_places(text, order, true);

  auto options = options_for(order, true);
  options.max_device_bytes = 200000;  // some thousand places at a time
  gpu::kmer::Counter small(options);
  REQUIRE(small.add(text.data(), text.size()));
  CHECK(take_all(small, 500) == expected);
  small.clear();
  REQUIRE(small.add(text.data(), text.size()));
  CHECK(take_all(small, 500) == expected);

  Places together;
  for (int part = 0; part < 3; ++part) {
    auto of_part = options_for(order, true);
    of_part.part = part;
    of_part.n_parts = 3;
    gpu::kmer::Counter counter(of_part);
    REQUIRE(counter.add(text.data(), text.size()));
    const Places some = take_all(counter, 500);
    CHECK((together.empty() || some.begin()->first > together.rbegin()->first));
    together.insert(some.begin(), some.end());
  }
  CHECK(together == expected);
}
