#include "lib/bwt/bwt_gpu.hpp"

#include <algorithm>
#include <numeric>
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
