#include "lib/bwt/bwt_gpu.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/bwt/suffix_sort.hpp"
#include "lib/bwt/suffix_array.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/bwt/texts.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

using namespace biogpu;

namespace {

void check_sort(const bwt::PackedText& text) {
  const auto expected = bwt::sort_suffixes<std::uint32_t>({text}, {});
  gpu::bwt::SuffixSorter sorter;
  sorter.sort(text.words(), text.size());
  std::vector<std::uint32_t> sa(text.size());
  sorter.copy_suffix_array(sa.data());
  CHECK(std::equal(sa.begin(), sa.end(), expected.begin(), expected.end()));
  std::vector<std::uint32_t> words((text.size() + 15) / 16);
  const std::uint32_t primary = sorter.copy_transform(words.data());
  bool same = true;
  for (std::uint64_t stored = 0; stored < text.size(); ++stored) {
    const std::uint64_t row = stored + (stored >= primary ? 1 : 0);
    const std::uint64_t position = row == 0 ? text.size() : expected[row - 1];
    same = same && position > 0 &&
           text[position - 1] == (words[stored / 16] >> (30 - 2 * (stored % 16)) & 3);
  }
  CHECK(same);
}

}  // namespace

TEST_CASE("bwt.suffix_sort: the GPU sorts as the CPU does", "[bwt][device]") {
  if (!test::has_gpu()) return;
  for (const std::size_t n : {0, 1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 4000}) {
    INFO("length " << n);
    check_sort(test::pack_bases(test::random_text(n, n, "ACGT")));
  }
  for (const auto& [name, letters] : test::hard_texts(1500)) {
    INFO(name);
    check_sort(test::pack_bases(letters));
  }
}

namespace {

// Strings over 1, 2, 3, 4, each closed by a 0.
struct StringSet {
  bwt::PackedText text;
  std::vector<std::uint64_t> ends;
};

StringSet pack_set(const std::vector<std::string>& strings) {
  StringSet set;
  std::string all;
  for (const std::string& string : strings) {
    all += string;
    set.ends.push_back(all.size());
    all += '$';
  }
  set.text = bwt::PackedText(all.size(), 3);
  for (std::size_t i = 0; i < all.size(); ++i)
    set.text.set(i, static_cast<unsigned>(std::string_view("$ACGT").find(all[i])));
  return set;
}

// Sorted block by block, with what ties for long finished on the CPU.
template <class Index>
bwt::SuffixSortReport check_blocks(const bwt::SuffixSource& source, std::uint64_t n_rows) {
  const auto expected = bwt::sort_suffixes_ref<Index>(source);
  bwt::SuffixSortSettings settings;
  settings.gpu = 0;
  settings.gpu_rows = n_rows;
  settings.n_threads = 2;
  bwt::SuffixSortReport report;
  const auto sa = bwt::sort_suffixes<Index>(source, settings, &report);
  CHECK(std::equal(sa.begin(), sa.end(), expected.begin(), expected.end()));
  return report;
}

}  // namespace

TEST_CASE("bwt.block_sort: blocks of any size give the order of the whole", "[bwt][device]") {
  if (!test::has_gpu()) return;
  for (const std::size_t n : {1, 31, 32, 33, 64, 65, 2000, 5000}) {
    const auto text = test::pack_bases(test::random_text(n, n, "ACGT"));
    for (const std::uint64_t n_rows : {64u, 700u, 100000u}) {
      INFO("length " << n << ", rows " << n_rows);
      const auto report = check_blocks<std::uint32_t>({text}, n_rows);
      CHECK(report.on_gpu);
      CHECK(report.n_unresolved == 0);
      CHECK(report.n_blocks >= n / n_rows);
      check_blocks<std::uint64_t>({text}, n_rows);
    }
  }
}

TEST_CASE("bwt.block_sort: a bound of device memory makes blocks", "[bwt][device]") {
  if (!test::has_gpu()) return;
  const auto text = test::pack_bases(test::random_text(8, 9000, "ACGT"));
  const auto expected = bwt::sort_suffixes_ref<std::uint32_t>({text});
  bwt::SuffixSortSettings settings;
  settings.gpu = 0;
  bwt::SuffixSortReport report;
  for (const std::uint64_t bytes : {0u, 200000u}) {
    settings.gpu_bytes = bytes;
    const auto sa = bwt::sort_suffixes<std::uint32_t>({text}, settings, &report);
    CHECK(std::equal(sa.begin(), sa.end(), expected.begin(), expected.end()));
    CHECK((report.n_blocks > 1) == (bytes != 0));
  }
}

TEST_CASE("bwt.block_sort: hard texts are finished from what the device leaves", "[bwt][device]") {
  if (!test::has_gpu()) return;
  for (const auto& [name, letters] : test::hard_texts(1700)) {
    INFO(name);
    const auto text = test::pack_bases(letters);
    const auto report = check_blocks<std::uint64_t>({text}, 1700);
    CHECK(report.on_gpu);
    CHECK((report.n_unresolved > 0) == (name != "two letters"));
  }
}

TEST_CASE("bwt.block_sort: a few long ties are compared further, without ranks", "[bwt][device]") {
  if (!test::has_gpu()) return;
  const std::string letters = test::random_text(3, 20000, "ACGT");
  const auto text = test::pack_bases(letters + letters.substr(700, 600));
  const auto report = check_blocks<std::uint32_t>({text}, 9000);
  CHECK(report.on_gpu);
  CHECK(report.n_unresolved > 0);
  CHECK(report.n_rank_rounds == 16);  // the device's
}

TEST_CASE("bwt.block_sort: equal suffixes of a set follow the order of the strings",
          "[bwt][device]") {
  if (!test::has_gpu()) return;
  std::mt19937_64 random(12);
  std::vector<std::string> strings;
  for (int i = 0; i < 60; ++i) {
    strings.push_back(test::random_text(random(), random() % 60, "AC"));
    if (i % 3 == 0) strings.push_back(strings[random() % strings.size()]);
  }
  strings.push_back(test::repeated("ACC", 500));
  strings.push_back(test::repeated("ACC", 500));
  const StringSet set = pack_set(strings);
  for (const std::uint64_t n_rows : {2500u, 10000u})
    CHECK(check_blocks<std::uint32_t>({set.text, set.ends}, n_rows).on_gpu);
  check_blocks<std::uint64_t>({set.text, set.ends}, 10000);
}

TEST_CASE("bwt.block_sort: what no block holds goes to the CPU, with the reason", "[bwt][device]") {
  if (!test::has_gpu()) return;
  const auto text = test::pack_bases(std::string(3000, 'A'));
  const auto report = check_blocks<std::uint32_t>({text}, 1000);
  CHECK_FALSE(report.on_gpu);
  CHECK(report.why_cpu.find("begin alike") != std::string::npos);
}

TEST_CASE("bwt.fm_search: the GPU finds what the CPU finds", "[bwt][device]") {
  if (!test::has_gpu()) return;
  // Two records with holes, the second a copy of a part of the first.
  const std::string first = test::random_text(1, 2500, "ACGT") + test::repeated("ACG", 150);
  bwt::Reference reference;
  const std::string letters = first + first.substr(300, 900);
  reference.text = test::pack_bases(letters);
  reference.contigs = {{"a", "", 0, first.size(), 1}, {"b", "", first.size(), 900, 1}};
  reference.holes = {{700, 40, 'N'}, {first.size() + 100, 1, 'R'}};
  bwt::PatternSet patterns;
  std::mt19937_64 random(2);
  for (int i = 0; i < 150; ++i) {
    std::string pattern = letters.substr(random() % 3000, 1 + random() % 110);
    if (i % 5 == 0) pattern[random() % pattern.size()] = "ACGTN"[random() % 5];
    patterns.append(pattern);
  }
  patterns.append("");
  patterns.append("A");
  std::vector<bwt::Probe> probes;
  for (std::uint32_t p = 0; p < patterns.size(); ++p) {
    probes.push_back({p, 0, patterns[p].length});
    if (patterns[p].length > 40) probes.push_back({p, 33, patterns[p].length - 35});
  }
  for (const std::uint64_t sample_rate : {1, 8}) {
    bwt::FmIndex::Settings settings;
    settings.sample_rate = sample_rate;
    const bwt::FmIndex index = bwt::FmIndex::build(reference, settings);
    bwt::CpuSearch cpu(index);
    const auto gpu = bwt::make_search_of_backend(0, index);
    std::vector<std::uint64_t> expected(probes.size());
    std::vector<std::uint64_t> counts(probes.size(), 99);
    cpu.count(patterns, probes, expected);
    gpu->count(patterns, probes, counts);
    CHECK(counts == expected);
    CHECK(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}) > 1000);
    std::vector<bwt::ProbeHit> found;
    std::vector<bwt::ProbeHit> wanted;
    cpu.locate(patterns, probes, wanted);
    gpu->locate(patterns, probes, found);
    const auto in_order = [](std::vector<bwt::ProbeHit>& hits) {
      std::vector<std::pair<std::uint32_t, std::uint64_t>> pairs;
      for (const bwt::ProbeHit& hit : hits) pairs.emplace_back(hit.probe, hit.position);
      std::sort(pairs.begin(), pairs.end());
      return pairs;
    };
    CHECK(in_order(found) == in_order(wanted));
  }
}

namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

bwt::PackedText random_bases(std::uint64_t n) {
  std::mt19937_64 random(20260101);
  bwt::PackedText text(n, 2);
  for (std::size_t w = 0; w < n / 32; ++w) text.words()[w] = random();
  return text;
}

// From text in host memory to its transform in host memory, transfers counted, allocation not: the
// second of two runs.
void measure_transform(std::uint64_t n) {
  const bwt::PackedText text = random_bases(n);
  std::vector<std::uint32_t> words((n + 15) / 16);
  gpu::bwt::SuffixSorter sorter;
  double wall_s = 0;
  for (int run = 0; run < 2; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    sorter.sort(text.words(), n);
    sorter.copy_transform(words.data());
    wall_s = seconds_since(begin);
  }
  std::printf(
      "{\"what\": \"transform\", \"bases\": %llu, \"wall_s\": %.4f, \"sort_device_s\": %.4f, "
      "\"rounds\": %d, \"device_bytes\": %llu}\n",
      static_cast<unsigned long long>(n), wall_s, sorter.device_seconds(), sorter.n_rounds(),
      static_cast<unsigned long long>(sorter.device_bytes()));
}

// Whether sa lists every suffix of the text in ascending order: neighbours by their first symbols,
// or by what follows those.
bool is_suffix_array(const bwt::PackedText& text, const std::vector<std::uint32_t>& sa) {
  std::vector<std::uint32_t> rank(sa.size() + 1, 0);
  for (std::size_t i = 0; i < sa.size(); ++i) rank[sa[i]] = static_cast<std::uint32_t>(i) + 1;
  if (std::count(rank.begin(), rank.end(), 0u) != 1) return false;
  bool ascends = true;
  for (std::size_t i = 1; i < sa.size(); ++i) {
    const unsigned a = text[sa[i - 1]];
    const unsigned b = text[sa[i]];
    ascends = ascends && (a < b || (a == b && rank[sa[i - 1] + 1] < rank[sa[i] + 1]));
  }
  return ascends;
}

// The texts that sorters find hard, as measure_transform(). The last is in many equal strings,
// block by block and with what the CPU finishes.
void measure_hard(std::uint64_t n) {
  std::vector<std::uint32_t> sa(n);
  std::vector<std::uint32_t> words((n + 15) / 16);
  for (const auto& [name, letters] : test::hard_texts(n)) {
    const bwt::PackedText text = test::pack_bases(letters);
    gpu::bwt::SuffixSorter sorter;
    double wall_s = 0;
    for (int run = 0; run < 2; ++run) {
      const auto begin = std::chrono::steady_clock::now();
      sorter.sort(text.words(), n);
      sorter.copy_transform(words.data());
      wall_s = seconds_since(begin);
    }
    sorter.copy_suffix_array(sa.data());
    CHECK(is_suffix_array(text, sa));
    std::printf(
        "{\"what\": \"hard\", \"text\": \"%s\", \"bases\": %llu, \"wall_s\": %.4f, "
        "\"sort_device_s\": %.4f, \"rounds\": %d}\n",
        name.c_str(), static_cast<unsigned long long>(n), wall_s, sorter.device_seconds(),
        sorter.n_rounds());
  }
  const std::string unit = test::random_text(4, 99, "ACGT");
  const StringSet set = pack_set(std::vector<std::string>(n / 100, unit));
  bwt::SuffixSortSettings settings;
  settings.gpu = 0;
  settings.n_threads = 16;
  bwt::SuffixSortReport report;
  const auto begin = std::chrono::steady_clock::now();
  const auto found = bwt::sort_suffixes<std::uint32_t>({set.text, set.ends}, settings, &report);
  const double wall_s = seconds_since(begin);
  settings.gpu = -1;
  const auto expected = bwt::sort_suffixes<std::uint32_t>({set.text, set.ends}, settings);
  CHECK(std::equal(found.begin(), found.end(), expected.begin(), expected.end()));
  std::printf(
      "{\"what\": \"hard\", \"text\": \"equal strings of 99\", \"bases\": %llu, \"wall_s\": "
      "%.4f, \"sort_device_s\": %.4f, \"rounds\": %d}\n",
      static_cast<unsigned long long>(n), wall_s, report.gpu_s, report.n_rank_rounds);
}

// 100-mers of an indexed genome, the index resident.
void measure_search(std::uint64_t n, std::uint32_t n_queries) {
  bwt::Reference reference;
  reference.text = random_bases(n);
  reference.contigs = {{"genome", "", 0, n, 0}};
  bwt::FmIndex::Settings settings;
  settings.sort.n_threads = 16;
  const bwt::FmIndex index = bwt::FmIndex::build(reference, settings);
  std::mt19937_64 random(7);
  bwt::PatternSet patterns;
  std::vector<bwt::Probe> probes;
  for (std::uint32_t i = 0; i < n_queries; ++i) {
    const std::uint64_t at = random() % (n - 100);
    std::string letters;
    for (std::uint64_t j = 0; j < 100; ++j) letters += "ACGT"[reference.text[at + j]];
    patterns.append(letters);
    probes.push_back({2 * i + static_cast<std::uint32_t>(random() % 2), 0, 100});
  }
  const auto search = bwt::make_search_of_backend(0, index);
  std::vector<std::uint64_t> counts(probes.size());
  std::vector<bwt::ProbeHit> hits;
  for (int run = 0; run < 2; ++run) {
    double before = search->device_seconds();
    auto begin = std::chrono::steady_clock::now();
    search->count(patterns, probes, counts);
    const double count_s = seconds_since(begin);
    const double count_device_s = search->device_seconds() - before;
    hits.clear();
    before = search->device_seconds();
    begin = std::chrono::steady_clock::now();
    search->locate(patterns, probes, hits);
    std::printf(
        "{\"what\": \"search\", \"bases\": %llu, \"queries\": %u, \"count_wall_s\": %.4f, "
        "\"count_device_s\": %.5f, \"locate_wall_s\": %.4f, \"locate_device_s\": %.5f, "
        "\"places\": %zu}\n",
        static_cast<unsigned long long>(n), n_queries, count_s, count_device_s,
        seconds_since(begin), search->device_seconds() - before, hits.size());
  }
  std::vector<std::uint64_t> expected(probes.size());
  bwt::CpuSearch(index).count(patterns, probes, expected);
  CHECK(counts == expected);
}

}  // namespace

// Hidden: run by scripts/bench/bwt_gpu.sh, prints a line of JSON for each figure.
TEST_CASE("bwt.bench: transforms and searches on a GPU", "[.bench]") {
  if (!test::has_gpu()) return;
  const char* const scale = std::getenv("BIOGPU_BENCH_BASES");  // of the largest text
  const std::uint64_t most = scale != nullptr ? std::strtoull(scale, nullptr, 10) : 400000000;
  for (const std::uint64_t n : {most / 8, most}) measure_transform(n / 32 * 32);
  measure_hard(most / 8);
  measure_search(most / 8 / 32 * 32,
                 static_cast<std::uint32_t>(std::min<std::uint64_t>(most / 100, 4000000)));
}
