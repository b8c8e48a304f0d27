#include <random>
#include <string>
#include <vector>

#include "lib/kmer/count/multi_gpu_counter.hpp"
#include "lib/kmer/sequences/packed_text.hpp"
#include "lib/kmer/sequences/sequence_keys.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/gpu/gpu_support.hpp"
#include "tests/unit/kmer/naive.hpp"

using namespace biogpu;

namespace {

constexpr int kLength = 21;

test::NaiveCounts count(const std::vector<std::string>& texts, const std::vector<int>& devices,
                        std::uint64_t max_device_bytes, std::uint64_t& n_windows) {
  kmer::CountOptions options;
  options.k = kLength;
  options.canonical = true;
  options.order = kmer::KeyOrder::jellyfish(kLength, 20, false);
  options.n_threads = 1;
  kmer::MultiGpuCounter counter(options, devices, max_device_bytes);
  kmer::TextPacker(kLength, 0, 16384)
      .pack(
          [&](const kmer::AddSequence& add) {
            for (const std::string& text : texts) add(text, {});
          },
          [&](const kmer::PackedText& text) { counter.add(text); });
  counter.finish();
  test::NaiveCounts all;
  for (const auto& [letters, n] : test::all_of(counter, kLength)) all[letters] += n;
  n_windows = counter.totals().n_windows;
  return all;
}

}  // namespace

TEST_CASE("kmer.multi_gpu_counter: full devices that share texts lose nothing",
          "[kmer][gpu][device]") {
  if (!test::has_gpu()) return;
  std::vector<std::string> texts;
  std::uint64_t n_expected = 0;
  std::mt19937 rng(30);
  for (int i = 0; i < 40; ++i) {
    texts.push_back(test::random_letters(rng, 5000, "ACGT"));
    n_expected += texts.back().size() - kLength + 1;
  }
  std::uint64_t n_one = 0;
  std::uint64_t n_two = 0;
  // A device holds some ten thousand windows at a time: it is emptied, in many passes, on the way.
  const auto one = count(texts, {0}, 100000, n_one);
  const auto two = count(texts, {0, 0}, 100000, n_two);
  CHECK(n_one == n_expected);
  CHECK(n_two == n_expected);
  CHECK(two == one);
}
