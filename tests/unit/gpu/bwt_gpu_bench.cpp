// Figures of the GPU side of `bwt`: hidden, run by scripts/bench/bwt_gpu.sh, a line of JSON for
// each.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "gpu/bwt/prefix_doubling.hpp"
#include "lib/bwt/bwt_gpu.hpp"
#include "lib/bwt/suffix/suffix_array.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/bwt/texts.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

using namespace biogpu;

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
    sorter.sort(bwt::device_text({text}));
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

// The best of three runs, the first of which allocates.
template <class Job>
double seconds_of(const Job& job) {
  double best = 1e9;
  for (int run = 0; run < 3; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    job();
    best = std::min(best, seconds_since(begin));
  }
  return best;
}

void print_hard(const char* text, const char* like, double wall_s,
                const gpu::bwt::SuffixSorter& sorter) {
  std::printf(
      "{\"what\": \"hard\", \"text\": \"%s\", \"like\": \"%s\", \"bases\": %llu, \"wall_s\": %.4f, "
      "\"sort_device_s\": %.4f, \"rounds\": %d, \"device_bytes\": %llu}\n",
      text, like, static_cast<unsigned long long>(sorter.n()), wall_s, sorter.device_seconds(),
      sorter.n_rounds(), static_cast<unsigned long long>(sorter.device_bytes()));
}

// The texts that sorters find hard, as measure_transform() and beside a random one.
void measure_hard(std::uint64_t n) {
  std::vector<std::uint32_t> sa(n);
  std::vector<std::uint32_t> words((n + 15) / 16);
  auto texts = test::hard_texts(n);
  texts.insert(texts.begin(), {"random", test::random_text(1, n, "ACGT")});
  for (const auto& [name, letters] : texts) {
    const bwt::PackedText text = test::pack_bases(letters);
    gpu::bwt::SuffixSorter sorter;
    const double wall_s = seconds_of([&] {
      sorter.sort(bwt::device_text({text}));
      sorter.copy_transform(words.data());
    });
    sorter.copy_suffix_array(sa.data());
    CHECK(is_suffix_array(text, sa));
    print_hard(name.c_str(), "random", wall_s, sorter);
  }
}

// Many short strings, all different or not, sorted into device memory.
void measure_strings(std::uint64_t n) {
  constexpr std::uint64_t kLength = 99;
  const std::uint64_t n_strings = n / (kLength + 1);
  for (const auto& [name, n_kinds] : std::vector<std::pair<const char*, std::uint64_t>>{
           {"random strings of 99", n_strings},
           {"strings of 99 of a thousand kinds", std::min<std::uint64_t>(1000, n_strings)},
           {"equal strings of 99", 1}}) {
    const test::StringSet set = test::pack_set(test::drawn_strings(n_strings, kLength, n_kinds), 3);
    const bwt::SuffixSource source{set.text, set.ends};
    gpu::bwt::SuffixSorter sorter;
    const double wall_s = seconds_of([&] { sorter.sort(bwt::device_text(source)); });
    std::vector<std::uint32_t> sa(set.text.size());
    sorter.copy_suffix_array(sa.data());
    bwt::SuffixSortSettings settings;
    settings.n_threads = 16;
    const auto expected = bwt::sort_suffixes<std::uint32_t>(source, settings);
    CHECK(std::equal(sa.begin(), sa.end(), expected.begin(), expected.end()));
    print_hard(name, "random strings of 99", wall_s, sorter);
  }
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
  const auto search = bwt::make_gpu_search(0, index);
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

namespace {

// Of the largest text.
std::uint64_t max_bases() {
  const char* const scale = std::getenv("BIOGPU_BENCH_BASES");
  return scale != nullptr ? std::strtoull(scale, nullptr, 10) : 400000000;
}

}  // namespace

TEST_CASE("bwt.bench: transforms", "[.bench]") {
  if (!test::has_gpu()) return;
  for (const std::uint64_t n : {max_bases() / 8, max_bases()}) measure_transform(n / 32 * 32);
}

TEST_CASE("bwt.bench: hard texts", "[.bench]") {
  if (!test::has_gpu()) return;
  measure_hard(max_bases() / 8);
  measure_strings(max_bases() / 8);
}

TEST_CASE("bwt.bench: searches", "[.bench]") {
  if (!test::has_gpu()) return;
  measure_search(max_bases() / 8 / 32 * 32,
                 static_cast<std::uint32_t>(std::min<std::uint64_t>(max_bases() / 100, 4000000)));
}
