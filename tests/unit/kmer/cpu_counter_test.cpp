#include "lib/kmer/count/cpu_counter.hpp"

#include <hwy/targets.h>

#include <thread>

#include "tests/support/catch.hpp"
#include "tests/unit/kmer/naive.hpp"

using namespace biogpu;

namespace {

using Pairs = std::vector<std::pair<std::string, std::uint64_t>>;

Pairs count(const kmer::CountOptions& options, const std::vector<std::string>& sequences) {
  kmer::CpuCounter counter(options);
  test::add_all(counter, sequences);
  counter.finish();
  return test::all_of(counter, options.k);
}

kmer::CountOptions options_for(int k, bool canonical) {
  kmer::CountOptions options;
  options.k = k;
  options.canonical = canonical;
  options.order = kmer::KeyOrder::lexicographic(k);
  return options;
}

}  // namespace

TEST_CASE("kmer.cpu_counter: equals plain counting for lengths around every word", "[kmer]") {
  const auto sequences = test::tricky_sequences(1, 9000);
  for (const int k :
       {1, 2, 4, 9, 10, 15, 16, 17, 21, 31, 32, 33, 55, 63, 64, 65, 96, 127, 128, 129, 200, 256})
    for (const bool canonical : {false, true}) {
      CAPTURE(k, canonical);
      test::NaiveCounts expected;
      for (const std::string& sequence : sequences)
        test::count_naively(sequence, k, canonical, expected);
      CHECK(count(options_for(k, canonical), sequences) == Pairs(expected.begin(), expected.end()));
    }
}

TEST_CASE("kmer.cpu_counter: is the same with every instruction set", "[kmer]") {
  const auto sequences = test::tricky_sequences(3, 9000);
  for (const int k : {1, 9, 31, 32, 33, 55, 64, 65, 127, 128, 129, 256}) {
    const Pairs expected = count(options_for(k, true), sequences);
    for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
      const std::int64_t target = left & -left;
      CAPTURE(k, hwy::TargetName(target));
      hwy::SetSupportedTargetsForTest(target);
      const Pairs found = count(options_for(k, true), sequences);
      hwy::SetSupportedTargetsForTest(0);
      CHECK(found == expected);
    }
  }
}

TEST_CASE("kmer.cpu_counter: threads, batches and a memory bound change nothing", "[kmer]") {
  const auto sequences = test::tricky_sequences(2, 200000);
  for (const int k : {21, 40}) {
    kmer::CountOptions options = options_for(k, true);
    const Pairs expected = count(options, sequences);
    options.n_threads = 3;
    options.max_memory = 1;  // every full block goes to disk
    kmer::CpuCounter counter(options);
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 3; ++t)
      threads.emplace_back([&, t] {
        for (std::size_t i = t; i < sequences.size(); i += 3)
          test::add_all(counter, {sequences[i]});
      });
    threads.clear();
    counter.finish();
    CHECK(test::all_of(counter, k) == expected);
    CHECK(counter.spilled_bytes() > 0);
  }
}
