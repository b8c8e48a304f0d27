#include "lib/qc/stats/duplicates.hpp"

#include <set>
#include <string>

#include "lib/qc/stats/packed_keys.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/qc/random_text.hpp"

using namespace biogpu::qc;
using namespace biogpu::qc_test;

namespace {

std::uint64_t key_of(const DuplicateHash& hash, const std::string& first,
                     const std::string& second) {
  const std::string text1 = first + std::string(kBehind, 'A');
  const std::string text2 = second + std::string(kBehind, 'G');
  return hash.key(0, std::string_view(text1).substr(0, first.size()),
                  std::string_view(text2).substr(0, second.size()));
}

}  // namespace

TEST_CASE("qc.duplicates: the vector version sums what the plain one does", "[qc][property]") {
  std::mt19937 random(32);
  std::vector<std::uint32_t> primes(700);
  for (auto& prime : primes) prime = random() >> 4;
  for (std::size_t length = 0; length < 300; ++length) {
    const std::string text = with_tail(random_text(random, length, "ACGTNacgt"), random);
    REQUIRE(sum_of_bases(text.data(), primes.data(), length) ==
            sum_of_bases_ref(text.data(), primes.data(), length));
  }
}

TEST_CASE("qc.duplicates: a key set knows what it has seen", "[qc][property]") {
  std::mt19937_64 random(31);
  KeySet set(33);
  std::set<std::uint64_t> expected;
  for (int i = 0; i < 60000; ++i) {
    std::uint64_t key = random() & ((std::uint64_t{1} << 33) - 1);
    if (i % 3 == 0) key &= 0xfff;
    REQUIRE(set.insert(key) == expected.insert(key).second);
  }
}

TEST_CASE("qc.duplicates: the hash of a pair runs on from mate to mate", "[qc]") {
  Options options;
  const DuplicateHash hash(options);
  REQUIRE(hash.n_tables() == 2);
  CHECK(key_of(hash, "ACGTN", "") == key_of(hash, "AC", "GTN"));
  CHECK(key_of(hash, "ACGT", "") != key_of(hash, "ACGA", ""));
  CHECK(key_of(hash, "", "") == 0);
  // fastp 0.23 believes the last table alone.
  options.profile = Profile::fastp_0_23;
  CHECK(DuplicateHash(options).n_tables() == 1);
}

TEST_CASE("qc.duplicates: long reads go round the table of primes", "[qc]") {
  Options options;
  options.duplicate_level = 6;
  const DuplicateHash hash(options);
  const std::string read(5000, 'C');
  CHECK(key_of(hash, read, "") == key_of(hash, read.substr(0, 700), read.substr(700)));
}

TEST_CASE("qc.duplicates: packed keys are what was packed", "[qc][property]") {
  std::mt19937_64 random(33);
  for (const int n_bits : {32, 33, 35, 40, 64}) {
    PackedKeys packed(n_bits);
    CHECK(packed.key_bytes() == static_cast<std::size_t>((n_bits + 7) / 8));
    std::vector<std::uint64_t> keys(1000);
    for (auto& key : keys) key = random() >> (64 - n_bits);
    packed.append(keys);
    packed.append({});
    PackedKeys copy(n_bits);
    copy.append_bytes(packed.bytes());
    REQUIRE(copy.size() == keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) REQUIRE(copy[i] == keys[i]);
  }
}
