#include <algorithm>
#include <random>
#include <set>

#include "lib/kmer/key/key_order.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;

TEST_CASE("kmer.bit_matrix: is the one in Jellyfish's files", "[kmer]") {
  // From headers that jellyfish 2.3.0 wrote for -m 4 -s 10, -m 21 -s 100M.
  CHECK(kmer::jellyfish_matrix(4, 8).columns ==
        std::vector<std::uint64_t>{7, 5, 1, 13, 9, 10, 13, 8});
  const auto columns = kmer::jellyfish_matrix(27, 42).columns;
  CHECK(columns[0] == 64834949);
  CHECK(columns[1] == 57999349);
  CHECK(columns[41] == 69326724);
}

TEST_CASE("kmer.bit_matrix: a matrix inverts twice to itself", "[kmer]") {
  const kmer::BitMatrix matrix = kmer::jellyfish_matrix(17, 42);
  CHECK(kmer::invert(kmer::invert(matrix)) == matrix);
  CHECK(kmer::invert({2, {1, 1, 1}}).columns.empty());  // two equal columns
}

namespace {

template <int kWords>
void check_order(int k, const kmer::KeyOrder& order) {
  std::mt19937_64 rng(static_cast<unsigned>(k));
  std::vector<kmer::Key<kWords>> keys;
  for (int i = 0; i < 500; ++i) {
    kmer::Key<kWords> key;
    for (auto& word : key.word) word = rng();
    keys.push_back(kmer::shift_right(key, 64 * kWords - 2 * k));
  }
  std::set<kmer::Key<kWords>> sort_keys;
  for (const auto& key : keys) {
    const auto sort_key = order.encode(key);
    CHECK(order.decode(sort_key) == key);
    sort_keys.insert(sort_key);
  }
  kmer::KeyBatch<kWords> batch;
  for (std::size_t i = 0; i < 101; ++i) batch.push(keys[i]);
  order.encode(batch);
  for (std::size_t i = 0; i < 101; ++i) CHECK(batch.key(i) == order.encode(keys[i]));
  order.decode(batch);
  for (std::size_t i = 0; i < 101; ++i) CHECK(batch.key(i) == keys[i]);
  if (order.keeps_keys()) return;
  std::uint64_t last = 0;
  kmer::Key<kWords> last_key;
  for (const auto& sort_key : sort_keys) {
    const auto key = order.decode(sort_key);
    const std::uint64_t position = order.position(key);
    CHECK((last < position || (last == position && last_key <= key)));
    last = position;
    last_key = key;
  }
}

}  // namespace

TEST_CASE("kmer.key_order: sort keys are distinct, ascend by slot and key, and decode", "[kmer]") {
  for (const int k : {1, 4, 15, 16, 21, 31, 32, 33, 64, 65, 127, 128, 129, 256})
    for (const int size_bits : {1, 7, 20, 30, 62}) {
      if (size_bits > 2 * k) continue;
      CAPTURE(k, size_bits);
      const auto order = kmer::KeyOrder::jellyfish(k, size_bits, false);
      kmer::with_words(k, [&]<int kWords>() { check_order<kWords>(k, order); });
    }
  kmer::with_words(
      40, [&]<int kWords>() { check_order<kWords>(40, kmer::KeyOrder::lexicographic(40)); });
}

TEST_CASE("kmer.key: windows of both strands, for lengths around every word", "[kmer]") {
  std::mt19937_64 rng(3);
  for (const int k : {1, 2, 31, 32, 33, 63, 64, 65, 96, 97, 128, 129, 255, 256}) {
    CAPTURE(k);
    kmer::with_words(k, [&]<int kWords>() {
      kmer::RollingKey<kWords> window(k);
      std::vector<std::uint64_t> bases;
      for (int i = 0; i < 2 * k + 5; ++i) {
        bases.push_back(rng() & 3);
        window.push(bases.back());
        if (i < k - 1) continue;
        kmer::Key<kWords> forward;
        for (std::size_t j = bases.size() - static_cast<std::size_t>(k); j < bases.size(); ++j) {
          forward = kmer::shift_left(forward, 2);
          forward.word[kWords - 1] |= bases[j];
        }
        CHECK(window.forward() == forward);
        CHECK(window.canonical() == std::min(forward, kmer::reverse_complement(forward, k)));
        CHECK(kmer::reverse_complement(kmer::reverse_complement(forward, k), k) == forward);
      }
    });
  }
}
