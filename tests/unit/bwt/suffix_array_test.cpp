#include "lib/bwt/suffix/suffix_array.hpp"

#include <algorithm>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/unit/bwt/texts.hpp"

using namespace biogpu;
using bwt::SuffixMethod;
using bwt::SuffixSortSettings;

namespace {

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

template <class Index>
std::vector<std::uint64_t> values(const BigArray<Index>& sa) {
  return {sa.begin(), sa.end()};
}

// Every way of sorting, at small cost for each text.
std::vector<SuffixSortSettings> all_ways() {
  return {{1},
          {3, SuffixMethod::direct},
          {1, SuffixMethod::ranks, 1},
          {3, SuffixMethod::ranks, 1},
          {2, SuffixMethod::ranks, 100},
          {1, SuffixMethod::lms},
          {1, SuffixMethod::lms, 1, kNoLimit},
          {4, SuffixMethod::lms, 1, kNoLimit},
          {2, SuffixMethod::lms, 100, kNoLimit},
          {2, SuffixMethod::lms, 1, 1},
          {1, SuffixMethod::induced}};
}

void check_all_ways(const bwt::SuffixSource& source) {
  const auto expected = values(bwt::sort_suffixes_ref<std::uint32_t>(source));
  for (const SuffixSortSettings& settings : all_ways()) {
    INFO("threads " << settings.n_threads << ", method " << static_cast<int>(settings.method)
                    << ", direct " << settings.direct_symbols << ", moves "
                    << settings.max_lms_moves);
    CHECK(values(bwt::sort_suffixes<std::uint32_t>(source, settings)) == expected);
    CHECK(values(bwt::sort_suffixes<std::uint64_t>(source, settings)) == expected);
  }
}

}  // namespace

TEST_CASE("bwt.suffix_array: sorts random texts of every small length", "[bwt]") {
  for (std::size_t n = 0; n < 140; ++n) {
    INFO("length " << n);
    const auto text = test::pack_bases(test::random_text(n, n, "ACGT"));
    check_all_ways({text});
  }
}

TEST_CASE("bwt.suffix_array: sorts texts of few letters and all hard ones", "[bwt]") {
  for (const std::size_t n : {1, 2, 31, 32, 33, 63, 64, 65, 257, 1500}) {
    for (const auto& [name, letters] : test::hard_texts(n + 3)) {
      INFO(name << ", length " << letters.size());
      const auto text = test::pack_bases(letters);
      check_all_ways({text});
    }
  }
}

TEST_CASE("bwt.suffix_array: sorts symbols of 1 to 8 bits", "[bwt]") {
  std::mt19937_64 random(8);
  for (int bits = 1; bits <= 8; ++bits) {
    for (const std::size_t n : {7u, 200u, 3000u}) {
      INFO(bits << " bits, length " << n);
      bwt::PackedText text(n, bits);
      for (std::size_t i = 0; i < n; ++i)
        text.set(i, static_cast<unsigned>(random() % (std::uint64_t{1} << bits)));
      check_all_ways({text});
    }
  }
}

TEST_CASE("bwt.suffix_array: equal suffixes of a set follow the order of the strings", "[bwt]") {
  std::mt19937_64 random(9);
  for (int bits = 2; bits <= 5; ++bits) {
    std::vector<std::string> strings;
    for (int i = 0; i < 60; ++i) {
      strings.push_back(test::random_text(random(), random() % 50, "AC"));
      if (i % 3 == 0) strings.push_back(strings[random() % strings.size()]);
      if (i % 7 == 0) strings.push_back(std::string(40, 'A'));
    }
    strings.push_back(test::repeated("ACC", 90) + "A");
    strings.push_back(test::repeated("ACC", 90) + "A");
    const test::StringSet set = test::pack_set(strings, bits);
    check_all_ways({set.text, set.ends});
  }
}

TEST_CASE("bwt.suffix_array: a long text is the same for every number of threads", "[bwt]") {
  std::string letters = test::random_text(10, 300000, "ACGT");
  letters += letters.substr(1000, 20000) + test::repeated("CAG", 5000) + letters.substr(500, 9000);
  const auto text = test::pack_bases(letters);
  const bwt::SuffixSource source{text};
  bwt::SuffixSortReport report;
  const auto expected =
      values(bwt::sort_suffixes<std::uint32_t>(source, {1, SuffixMethod::direct}, &report));
  CHECK(report.method == SuffixMethod::direct);
  CHECK(report.n_unresolved > 0);
  for (const auto method : {SuffixMethod::direct, SuffixMethod::lms, SuffixMethod::induced})
    for (const int n_threads : {1, 2, 4}) {
      INFO("threads " << n_threads << ", method " << static_cast<int>(method));
      CHECK(values(bwt::sort_suffixes<std::uint32_t>(source, {n_threads, method})) == expected);
      CHECK(values(bwt::sort_suffixes<std::uint64_t>(source, {n_threads, method})) == expected);
    }
  // Neighbours ascend: the first symbols, or what follows them by its rank.
  std::vector<std::uint64_t> rank(text.size() + 1, 0);
  for (std::size_t i = 0; i < expected.size(); ++i) rank[expected[i]] = i + 1;
  bool ascends = true;
  for (std::size_t i = 1; i < expected.size(); ++i) {
    const std::uint64_t a = expected[i - 1];
    const std::uint64_t b = expected[i];
    ascends = ascends && (text[a] < text[b] || (text[a] == text[b] && rank[a + 1] < rank[b + 1]));
  }
  CHECK(ascends);
}

TEST_CASE("bwt.suffix_array: what a text holds twice is sorted in chains", "[bwt]") {
  // A copy with changes that ends with the text, and strings that are equal in pairs.
  std::string letters = test::random_text(20, 60000, "ACGT");
  std::string copy = letters.substr(5000);
  for (std::size_t i = 100; i < copy.size(); i += 7001) copy[i] = copy[i] == 'A' ? 'C' : 'A';
  const auto text = test::pack_bases(letters + copy);
  std::vector<std::string> strings;
  for (int i = 0; i < 600; ++i) {
    strings.push_back(test::random_text(static_cast<std::uint64_t>(i), 200, "ACG"));
    strings.push_back(strings.back());
  }
  const test::StringSet set = test::pack_set(strings, 3);
  for (const int n_threads : {1, 3}) {
    const SuffixSortSettings direct{n_threads, SuffixMethod::direct};
    const SuffixSortSettings induced{1, SuffixMethod::induced};
    bwt::SuffixSortReport report;
    CHECK(values(bwt::sort_suffixes<std::uint32_t>({text}, direct, &report)) ==
          values(bwt::sort_suffixes<std::uint32_t>({text}, induced)));
    CHECK(report.method == SuffixMethod::direct);
    CHECK(report.n_unresolved > text.size() / 2);
    CHECK(values(bwt::sort_suffixes<std::uint32_t>({set.text, set.ends}, direct)) ==
          values(bwt::sort_suffixes<std::uint32_t>({set.text, set.ends}, induced)));
  }
}

TEST_CASE("bwt.suffix_array: the method follows the text and the number of threads", "[bwt]") {
  auto texts = test::hard_texts(200000);
  texts.emplace_back("random", test::random_text(3, 200000, "ACGT"));
  for (const auto& [name, letters] : texts) {
    const auto text = test::pack_bases(letters);
    const auto induced =
        values(bwt::sort_suffixes<std::uint32_t>({text}, {1, SuffixMethod::induced}));
    for (const int n_threads : {1, 2, 16}) {
      INFO(name << ", threads " << n_threads);
      bwt::SuffixSortReport report;
      CHECK(values(bwt::sort_suffixes<std::uint32_t>({text}, {n_threads}, &report)) == induced);
      const bool is_short_period =
          name != "two letters" && name != "random" && name != "twice the same";
      const SuffixMethod expected = is_short_period   ? SuffixMethod::induced
                                    : n_threads == 16 ? SuffixMethod::direct
                                                      : SuffixMethod::lms;
      CHECK(report.method == expected);
    }
  }
}
