#include "lib/bwt/bwt_gpu.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "gpu/bwt/prefix_doubling.hpp"
#include "lib/bwt/suffix/suffix_array.hpp"
#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/bwt/texts.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

using namespace biogpu;

namespace {

// Sorted in blocks of n_rows, or at once where they are 0; what a block leaves tied is finished on
// the CPU.
template <class Index>
bwt::SuffixSortReport check_sort(const bwt::SuffixSource& source, std::uint64_t n_rows) {
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

// At once; then nothing is left to the CPU.
void check_at_once(const bwt::SuffixSource& source) {
  const auto report = check_sort<std::uint32_t>(source, 0);
  CHECK(report.on_gpu);
  CHECK(report.n_unresolved == 0);
}

// Also at once, for the transform that stays on the device.
void check_transform(const bwt::PackedText& text) {
  const auto expected = bwt::sort_suffixes_ref<std::uint32_t>({text});
  gpu::bwt::SuffixSorter sorter;
  sorter.sort(bwt::device_text({text}));
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

// Strings of few letters, some of them equal.
test::StringSet mixed_set(int bits) {
  std::mt19937_64 random(12);
  std::vector<std::string> strings;
  for (int i = 0; i < 60; ++i) {
    strings.push_back(test::random_text(random(), random() % 60, "AC"));
    if (i % 3 == 0) strings.push_back(strings[random() % strings.size()]);
  }
  strings.push_back(test::repeated("ACC", 500));
  strings.push_back(test::repeated("ACC", 500));
  return test::pack_set(strings, bits);
}

// Runs of every short period, of random lengths and mostly broken by a change, and copies of what
// came before.
std::string mixed_text(std::uint64_t seed, std::size_t n) {
  std::mt19937_64 random(seed);
  std::string text;
  while (text.size() < n) {
    const std::string unit = test::random_text(random(), 1 + random() % 12, "ACGT");
    std::string piece = test::repeated(unit, 20 + random() % 150);
    if (!text.empty() && random() % 2 == 0)
      piece = text.substr(random() % text.size(), random() % 300);
    if (!piece.empty() && random() % 3 != 0) piece.back() = "ACGT"[random() % 4];
    text += piece;
  }
  text.resize(n);
  return text;
}

}  // namespace

TEST_CASE("bwt.suffix_sort: the GPU sorts as the CPU does", "[bwt][device]") {
  if (!test::has_gpu()) return;
  for (const std::size_t n : {1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 4000}) {
    INFO("length " << n);
    const auto text = test::pack_bases(test::random_text(n, n, "ACGT"));
    check_at_once({text});
    check_transform(text);
  }
  for (const auto& [name, letters] : test::hard_texts(1500)) {
    INFO(name);
    const auto text = test::pack_bases(letters);
    check_at_once({text});
    check_transform(text);
  }
}

TEST_CASE("bwt.suffix_sort: a few long ties are sorted by ranks alone", "[bwt][device]") {
  if (!test::has_gpu()) return;
  const std::string letters = test::random_text(3, 6000, "ACGT");
  const auto text = test::pack_bases(letters + letters.substr(700, 150));
  CHECK(check_sort<std::uint32_t>({text}, 0).n_rank_rounds == 3);  // 32, 64, 128
}

TEST_CASE("bwt.jump_sort: runs and copies of all kinds", "[bwt][device]") {
  if (!test::has_gpu()) return;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    INFO("seed " << seed);
    check_at_once({test::pack_bases(mixed_text(seed, 900 + 50 * seed))});
  }
}

TEST_CASE("bwt.jump_sort: symbols of 1 to 8 bits", "[bwt][device]") {
  if (!test::has_gpu()) return;
  std::mt19937_64 random(5);
  for (int bits = 1; bits <= 8; ++bits) {
    INFO(bits << " bits");
    // Letters of the highest bit and the lowest; every third piece a copy.
    const std::string letters = mixed_text(40 + static_cast<std::uint64_t>(bits), 1000);
    bwt::PackedText text(letters.size(), bits);
    const unsigned high = 1u << (bits - 1);
    for (std::size_t i = 0; i < letters.size(); ++i)
      text.set(i, (letters[i] == 'A' || letters[i] == 'G' ? high : 0) |
                      (bits > 1 && letters[i] > 'C' ? 1u : 0u));
    check_at_once({text});
    bwt::PackedText even(700, bits);
    for (std::size_t i = 0; i < even.size(); ++i)
      even.set(i, static_cast<unsigned>(random() % (std::uint64_t{1} << bits)));
    check_at_once({even});
  }
}

TEST_CASE("bwt.jump_sort: equal suffixes of a set follow the order of the strings",
          "[bwt][device]") {
  if (!test::has_gpu()) return;
  for (const int bits : {2, 3, 5}) {
    const test::StringSet set = mixed_set(bits);
    check_at_once({set.text, set.ends});
  }
  for (const std::size_t n_kinds : {1, 7}) {
    const test::StringSet set = test::pack_set(test::drawn_strings(30, 70, n_kinds), 3);
    check_at_once({set.text, set.ends});
  }
}

TEST_CASE("bwt.block_sort: blocks of any size give the order of the whole", "[bwt][device]") {
  if (!test::has_gpu()) return;
  for (const std::size_t n : {1, 31, 32, 33, 64, 65, 2000, 5000}) {
    const auto text = test::pack_bases(test::random_text(n, n, "ACGT"));
    for (const std::uint64_t n_rows : {64u, 700u, 100000u}) {
      INFO("length " << n << ", rows " << n_rows);
      const auto report = check_sort<std::uint32_t>({text}, n_rows);
      CHECK(report.on_gpu);
      CHECK(report.n_unresolved == 0);
      CHECK(report.n_blocks >= n / n_rows);
      check_sort<std::uint64_t>({text}, n_rows);
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
    const auto report = check_sort<std::uint64_t>({text}, 1700);
    CHECK(report.on_gpu);
    CHECK((report.n_unresolved > 0) == (name != "two letters"));
  }
}

TEST_CASE("bwt.block_sort: a few long ties are compared further, without ranks", "[bwt][device]") {
  if (!test::has_gpu()) return;
  const std::string letters = test::random_text(3, 20000, "ACGT");
  const auto text = test::pack_bases(letters + letters.substr(700, 600));
  const auto report = check_sort<std::uint32_t>({text}, 9000);
  CHECK(report.on_gpu);
  CHECK(report.n_unresolved > 0);
  CHECK(report.n_rank_rounds == 16);  // the device's
}

TEST_CASE("bwt.block_sort: equal suffixes of a set follow the order of the strings",
          "[bwt][device]") {
  if (!test::has_gpu()) return;
  const test::StringSet set = mixed_set(3);
  for (const std::uint64_t n_rows : {2500u, 10000u})
    CHECK(check_sort<std::uint32_t>({set.text, set.ends}, n_rows).on_gpu);
  check_sort<std::uint64_t>({set.text, set.ends}, 10000);
}

TEST_CASE("bwt.block_sort: what no block holds goes to the CPU, with the reason", "[bwt][device]") {
  if (!test::has_gpu()) return;
  const auto text = test::pack_bases(std::string(3000, 'A'));
  const auto report = check_sort<std::uint32_t>({text}, 1000);
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
    const auto gpu = bwt::make_gpu_search(0, index);
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

TEST_CASE("gpu.bwt: rows that lead in a circle end with the CPU's error", "[bwt][device]") {
  // The transform of A...A has its sentinel in the last row. In another row, each row behind it
  // leads to itself.
  bwt::Reference reference;
  reference.text = test::pack_bases(std::string(100, 'A'));
  reference.contigs = {{"a", "", 0, 100, 0}};
  bwt::FmIndex::Settings settings;
  settings.sample_rate = 128;
  const bwt::FmIndex index = bwt::FmIndex::build(reference, settings);
  std::string bytes(reinterpret_cast<const char*>(index.data()), index.bytes());
  auto& header = *reinterpret_cast<bwt::FmHeader*>(bytes.data());
  auto& block =
      *reinterpret_cast<bwt::FmBlock*>(bytes.data() + header.section[bwt::fm_blocks].offset);
  auto& start =
      *reinterpret_cast<bwt::FmStart*>(bytes.data() + header.section[bwt::fm_starts].offset);
  REQUIRE(start.row == 100);
  block.letter[1] |= std::uint64_t{1} << (100 - 64);
  block.letter[0] &= ~(std::uint64_t{1} << 21);
  start.row = 21;
  header.checksum =
      bwt::fm_checksum(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), 1);
  const std::string path =
      std::filesystem::temp_directory_path() / ("biogpu_circle_" + std::to_string(::getpid()));
  std::ofstream(path, std::ios::binary) << bytes;
  const bwt::FmIndex circular = bwt::FmIndex::open(path, 1);
  std::filesystem::remove(path);
  bwt::PatternSet patterns;
  patterns.append("AAAA");
  const std::vector<bwt::Probe> probes = {{0, 0, 4}};
  std::vector<bwt::ProbeHit> hits;
  const auto gpu = bwt::make_gpu_search(0, circular);
  CHECK_THROWS_AS(gpu->locate(patterns, probes, hits), Error);
  bwt::CpuSearch cpu(circular);
  CHECK_THROWS_AS(cpu.locate(patterns, probes, hits), Error);
  // The search after it is a new one.
  bwt::PatternSet others;
  others.append("CCCC");
  CHECK_NOTHROW(gpu->locate(others, probes, hits));
}
