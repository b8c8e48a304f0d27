#include <array>

#include "gpu/align/search_batch.hpp"
#include "lib/align/search.hpp"
#include "tests/unit/gpu/align_support.hpp"

using namespace biogpu;

namespace {

constexpr unsigned kSeed = 20260311;

// Lengths around the lanes, tiles and pairs of the kernel, and an empty one.
constexpr std::array<std::size_t, 12> kQueryLengths = {0,   1,   8,   63,  64,  65,
                                                       130, 190, 250, 257, 300, 9};
constexpr std::array<std::size_t, 9> kTargetLengths = {0, 1, 5, 31, 64, 100, 33, 7, 120};

struct Sets {
  test::WorkBuilder builder;
  align::SequenceSet queries() const { return builder.work().queries; }
  align::SequenceSet targets() const { return builder.work().targets; }
};

Sets random_sets(std::mt19937& random, int n_classes) {
  Sets sets;
  std::vector<std::vector<std::uint8_t>> queries;
  for (const std::size_t length : kQueryLengths) {
    queries.push_back(test::random_residues(random, length, n_classes));
    sets.builder.add_query(queries.back());
  }
  for (const std::size_t length : kTargetLengths)
    sets.builder.add_target(test::random_residues(random, length, n_classes));
  for (std::size_t i = 3; i < 11; ++i)
    sets.builder.add_target(test::mutated(random, queries[i], n_classes, 7));
  sets.builder.add_target(queries[8]);
  sets.builder.add_target(queries[8]);  // equal scores: the order is that of the targets
  return sets;
}

void check_equal_hits(const align::Hits& got, const align::Hits& expected) {
  CHECK(got.begin == expected.begin);
  REQUIRE(got.rows.size() == expected.rows.size());
  for (std::size_t i = 0; i < got.rows.size(); ++i) {
    if (got.rows[i] == expected.rows[i]) continue;
    FAIL_CHECK("hit " << i << ": got " << got.rows[i].target << " of " << got.rows[i].score
                      << ", expected " << expected.rows[i].target << " of "
                      << expected.rows[i].score);
  }
}

void check_search(const Sets& sets, const align::Options& options,
                  const align::SearchOptions& search, std::uint64_t max_device_bytes = 0) {
  const auto searcher =
      align::make_gpu_searcher(0, sets.targets(), options, search, max_device_bytes);
  const auto expected = align::search_ref(sets.queries(), sets.targets(), options, search);
  check_equal_hits(searcher->search(sets.queries()), expected);
  check_equal_hits(searcher->search(sets.queries()), expected);  // it can be used again
}

}  // namespace

TEST_CASE("gpu.align_search: protein hits equal the reference", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed);
  const Sets sets = random_sets(random, 24);
  const align::Options options{
      align::Mode::local, {}, align::Output::score, align::blosum62_scoring(11, 1)};
  for (const std::uint32_t top : {0u, 1u, 3u, 100u}) check_search(sets, options, {top, 1});
  check_search(sets, options, {5, 0});
  check_search(sets, options, {0, 40});
}

TEST_CASE("gpu.align_search: unusual costs equal the reference", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 1);
  const Sets sets = random_sets(random, 5);
  for (const auto& [open, extend] : {std::pair{1, 3}, {0, 0}, {4, 0}, {2, 2}, {0, 1}, {500, 300}}) {
    check_search(
        sets,
        {align::Mode::local, {}, align::Output::score, align::dna_scoring(2, -3, open, extend)},
        {4, 1});
  }
}

TEST_CASE("gpu.align_search: scores past 16 bits are exact", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 2);
  Sets sets;
  for (std::size_t length = 255; length < 262; ++length) {  // times 127 is about 32,767
    const auto query = test::random_residues(random, length, 4);
    sets.builder.add_query(query);
    sets.builder.add_target(query);
    sets.builder.add_target(test::random_residues(random, length, 4));
  }
  check_search(
      sets, {align::Mode::local, {}, align::Output::score, align::dna_scoring(127, -127, 127, 9)},
      {3, 1});
}

TEST_CASE("gpu.align_search: other modes go through the aligner", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 3);
  const Sets sets = random_sets(random, 24);
  for (const auto mode : {align::Mode::global, align::Mode::semiglobal}) {
    check_search(
        sets,
        {mode, {true, true, true, true}, align::Output::score, align::blosum62_scoring(11, 1)},
        {4, -20});
  }
}

TEST_CASE("gpu.align_search: hits do not depend on the parts of the targets", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 4);
  Sets sets;
  for (int i = 0; i < 5; ++i) sets.builder.add_query(test::random_residues(random, 30, 20));
  for (int i = 0; i < 200; ++i)
    sets.builder.add_target(test::random_residues(random, 1 + random() % 60, 20));
  const align::Options options{
      align::Mode::local, {}, align::Output::score, align::blosum62_scoring(11, 1)};
  check_search(sets, options, {7, 1}, 1 << 18);
  check_search(sets, options, {7, 1}, 8000);
}

TEST_CASE("gpu.align_search: queries that follow each other in long tracks", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 5);
  Sets sets;
  // Some end in the middle of a tile, some go on through several.
  for (const std::size_t length : {900, 700, 400, 390, 200, 100, 49, 48, 47, 9, 1, 0, 500, 30})
    sets.builder.add_query(test::random_residues(random, length, 20));
  for (int i = 0; i < 1400; ++i)
    sets.builder.add_target(test::random_residues(random, 1 + random() % 9, 20));
  const align::Options options{
      align::Mode::local, {}, align::Output::score, align::blosum62_scoring(11, 1)};
  check_search(sets, options, {0, 1});
}

TEST_CASE("gpu.search_batch: few rows are wasted", "[gpu]") {
  CHECK(gpu::align::choose_search_rows(150) == 20);
  CHECK(gpu::align::choose_search_rows(189) == 24);
  CHECK(gpu::align::choose_search_rows(5478) == 32);
}
