#include <tbb/task_arena.h>

#include <array>
#include <map>

#include "gpu/align/search/search_plan.hpp"
#include "gpu/align/search/search_schedule.hpp"
#include "gpu/rt/stream.hpp"
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
  for (const auto& [open, extend] :
       {std::pair{1, 3}, {0, 0}, {4, 0}, {2, 2}, {0, 1}, {500, 300}, {1024, 300}}) {
    check_search(
        sets,
        {align::Mode::local, {}, align::Output::score, align::dna_scoring(2, -3, open, extend)},
        {4, 1});
  }
}

TEST_CASE("gpu.align_search: scores past the cells are exact", "[gpu][device]") {
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

TEST_CASE("gpu.align_search: an empty query has no hits behind a similar one", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 8);
  Sets sets;
  std::vector<std::vector<std::uint8_t>> queries;
  for (int i = 0; i < 2; ++i) {
    queries.push_back(test::random_residues(random, 20, 20));
    sets.builder.add_query(queries.back());
  }
  for (int i = 0; i < 3; ++i) sets.builder.add_query({});
  for (std::size_t i = 0; i < 4000; ++i) sets.builder.add_target(queries[i % 2]);
  check_search(sets, {align::Mode::local, {}, align::Output::score, align::blosum62_scoring(11, 1)},
               {0, 1});
}

TEST_CASE("gpu.align_search: scores around the limit of small cells are exact", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 6);
  Sets sets;
  for (const int length : {383, 384, 385, 407, 408, 409, 410, 411, 420}) {  // times 5
    const auto query = test::random_residues(random, static_cast<std::size_t>(length), 4);
    sets.builder.add_query(query);
    sets.builder.add_target(query);
    sets.builder.add_target(test::mutated(random, query, 4, 30));
  }
  for (const int extend : {1, 2}) {
    check_search(
        sets, {align::Mode::local, {}, align::Output::score, align::dna_scoring(5, -4, 12, extend)},
        {0, 1});
  }
}

TEST_CASE("gpu.align_search: few and more scores past the cells are exact", "[gpu][device]") {
  if (!test::has_gpu()) return;
  // With one thread the host scores up to four such pairs while the device works on.
  tbb::task_arena one_thread(1);
  for (const int n_high : {1, 4, 5, 12}) {
    std::mt19937 random(kSeed + 11);
    Sets sets;
    for (int i = 0; i < 14; ++i) {
      const auto query = test::random_residues(random, static_cast<std::size_t>(420 + i), 4);
      sets.builder.add_query(query);
      sets.builder.add_target(i < n_high ? query : test::random_residues(random, 300, 4));
    }
    one_thread.execute([&] {
      check_search(sets,
                   {align::Mode::local, {}, align::Output::score, align::dna_scoring(5, -4, 12, 2)},
                   {0, 1});
    });
  }
}

TEST_CASE("gpu.align_search: pairs past the cells of one call are none of the next",
          "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 12);
  const align::Options options{
      align::Mode::local, {}, align::Output::score, align::dna_scoring(5, -4, 12, 2)};
  Sets all, few;
  for (int i = 0; i < 20; ++i) {
    const auto query = test::random_residues(random, static_cast<std::size_t>(420 + i), 4);
    all.builder.add_query(query);
    all.builder.add_target(query);
    if (i < 2) few.builder.add_query(query);
  }
  const auto searcher = align::make_gpu_searcher(0, all.targets(), options, {0, 1}, 0);
  for (const Sets* sets : std::array<const Sets*, 3>{&all, &few, &all})
    check_equal_hits(searcher->search(sets->queries()),
                     align::search_ref(sets->queries(), all.targets(), options, {0, 1}));
}

TEST_CASE("gpu.align_search: many high scores take the wide cells", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 7);
  const auto query = test::random_residues(random, 20, 4);  // times 127 is past the small cells
  Sets sets;
  for (int i = 0; i < 260; ++i) sets.builder.add_query(query);
  for (int i = 0; i < 260; ++i) sets.builder.add_target(query);
  check_search(
      sets, {align::Mode::local, {}, align::Output::score, align::dna_scoring(127, -127, 127, 9)},
      {2, 1});
}

TEST_CASE("gpu.search_plan: tracks are even and few rows are wasted", "[gpu]") {
  using gpu::align::kSearchLanes;
  using gpu::align::kSearchRows;
  // The 20 standard queries.
  const std::vector<std::int64_t> lengths = {5478, 5147, 4743, 4548, 4061, 3564, 3005,
                                             2504, 2005, 1500, 1000, 850,  729,  657,
                                             567,  464,  375,  222,  189,  144};
  std::int64_t sum = 0;
  for (const std::int64_t length : lengths) sum += length;
  const auto plan = gpu::align::plan_search(lengths, kSearchRows, 1, 24);
  REQUIRE(plan.bundles.size() == 1);
  const std::int64_t rows = std::int64_t{plan.max_tiles} * kSearchLanes * plan.rows;
  CHECK(2 * rows * 100 < sum * 103);

  // Every row of every query once, in order, whatever the number of bundles.
  for (const std::size_t n_bundles :
       {std::size_t{1}, std::size_t{3}, std::size_t{10}, std::size_t{99}}) {
    const auto split = gpu::align::plan_search(lengths, kSearchRows, n_bundles, 24);
    CHECK(split.bundles.size() == std::min<std::size_t>(n_bundles, 10));
    std::vector<std::int64_t> rows_of(lengths.size(), 0);
    for (std::size_t half = 0; half < 2; ++half) {
      std::int64_t open = 0;
      for (std::size_t i = half; i < split.lanes.size(); i += 2) {
        const auto& lane = split.lanes[i];
        if (lane.n_rows == 0) continue;
        CHECK(lane.depth * split.rows == open);
        open += lane.n_rows;
        if (lane.slot < 0) continue;
        rows_of[static_cast<std::size_t>(lane.slot)] = open;
        open = 0;
      }
      CHECK(open == 0);
    }
    CHECK(rows_of == lengths);
  }
  // Short queries do not get tiles of many rows.
  CHECK(gpu::align::plan_search(std::vector<std::int64_t>{60, 60}, kSearchRows, 1, 4).rows == 8);
}

namespace {

// Lengths of targets, the longest first, as SearchBatch has them.
std::vector<gpu::align::SearchTargets> batches_of(std::span<const std::int32_t> longest) {
  std::vector<gpu::align::SearchTargets> batches;
  std::uint64_t begin = gpu::align::kSearchPadding;
  for (const std::int32_t n_columns : longest) {
    const std::int32_t stride = n_columns + gpu::align::kSearchPadding;
    batches.push_back({begin, n_columns, stride});
    begin += static_cast<std::uint64_t>(stride) * gpu::align::kSearchTargets;
  }
  return batches;
}

// Every tile of every bundle meets every batch once, behind the tile above it.
void check_schedule(const gpu::align::SearchPlan& plan, const gpu::align::SearchSchedule& schedule,
                    std::size_t n_batches) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int32_t> next;
  for (const auto& unit : schedule.units) {
    auto& tile = next[{unit.bundle, unit.batch}];
    CHECK(unit.first_tile == tile);
    CHECK(unit.end_tile > unit.first_tile);
    const std::int32_t n_tiles = plan.bundles[unit.bundle].n_tiles;
    CHECK(unit.end_tile == (unit.batch < schedule.n_split ? tile + 1 : n_tiles));
    tile = unit.end_tile;
  }
  CHECK(next.size() == plan.bundles.size() * n_batches);
  for (const auto& [place, tile] : next) CHECK(tile == plan.bundles[place.first].n_tiles);
}

}  // namespace

TEST_CASE("gpu.search_schedule: every tile is filled once, behind the one above it", "[gpu]") {
  using namespace gpu::align;
  const std::vector<std::int64_t> lengths = {5478, 3005, 1000, 144, 20, 0};
  std::vector<std::int32_t> longest;
  for (std::int32_t i = 0; i < 300; ++i) longest.push_back(3000 / (1 + i / 3));
  const auto batches = batches_of(longest);
  for (const std::uint32_t n_blocks : {1u, 8u, 528u}) {
    for (const std::size_t n_bundles : {std::size_t{1}, std::size_t{3}}) {
      const auto plan = plan_search(lengths, kSearchRows, n_bundles, 24);
      for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{800000}, ~std::uint64_t{0}})
        check_schedule(plan, schedule_search(plan, batches, n_blocks, bytes), batches.size());
    }
  }
  // Few blocks have enough to do with whole bundles; many do not.
  const auto plan = plan_search(lengths, kSearchRows, 1, 24);
  CHECK(schedule_search(plan, batches, 1, ~std::uint64_t{0}).n_split < 10);
  CHECK(schedule_search(plan, batches, 528, ~std::uint64_t{0}).n_split > 100);
  CHECK(schedule_search(plan, batches, 528, 0).n_split == 0);
  CHECK(schedule_search(plan, {}, 528, 0).units.empty());
}

TEST_CASE("gpu.search_schedule: bundles are as many as cost nothing", "[gpu]") {
  using namespace gpu::align;
  const std::vector<std::int64_t> lengths = {5478, 5147, 4743, 4548, 4061, 3564, 3005,
                                             2504, 2005, 1500, 1000, 850,  729,  657,
                                             567,  464,  375,  222,  189,  144};
  const std::vector<std::int32_t> proteome(254, 320);
  CHECK(choose_bundles(lengths, kSearchRows, batches_of(proteome), 528) == 3);
  // A batch alone: side by side, though half of the tracks stay empty.
  CHECK(choose_bundles(lengths, kSearchRows, batches_of(std::vector<std::int32_t>{320}), 528) > 3);
  // So much work that one bundle is enough.
  const std::vector<std::int32_t> many(20000, 320);
  CHECK(choose_bundles(lengths, kSearchRows, batches_of(many), 528) == 1);
  // So many queries that counts are not compared.
  const std::vector<std::int64_t> queries(60000, 400);
  CHECK(choose_bundles(queries, kSearchRows, batches_of(std::vector<std::int32_t>{320}), 528) ==
        60000 / 16);
}

TEST_CASE("gpu.search_schedule: units and progress of split batches fit too", "[gpu]") {
  using namespace gpu::align;
  // Short targets and a long track: borders are few, units many.
  const std::vector<std::int64_t> lengths(200, 400);
  const auto batches = batches_of(std::vector<std::int32_t>(300, 30));
  const auto plan = plan_search(lengths, kSearchRows, 1, 24);
  const std::uint64_t max_bytes = 1 << 19;
  const auto schedule = schedule_search(plan, batches, 10000, max_bytes);
  CHECK(schedule.n_split > 0);
  CHECK(schedule.n_split < batches.size());
  const std::uint64_t n_units = plan.n_tiles() * schedule.n_split;
  CHECK(schedule.n_split_letters * sizeof(BorderCell) + n_units * sizeof(SearchUnit) +
            count_search_progress(plan.n_tiles(), schedule.n_split) * sizeof(std::uint32_t) <=
        max_bytes + sizeof(std::uint32_t));
  check_schedule(plan, schedule, batches.size());
}

TEST_CASE("gpu.align_search: long targets among short ones", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 9);
  Sets sets;
  // Many tiles, which several blocks fill one behind the other, and one path through all of them.
  const auto query = test::random_residues(random, 2200, 20);
  sets.builder.add_query(query);
  sets.builder.add_query(test::random_residues(random, 500, 20));
  sets.builder.add_target(test::mutated(random, query, 20, 9));
  for (const std::size_t length : {1500, 1400, 700, 333, 64, 57, 58, 65, 127, 128, 129, 0})
    sets.builder.add_target(test::random_residues(random, length, 20));
  for (int i = 0; i < 30; ++i)
    sets.builder.add_target(test::random_residues(random, random() % 20, 20));
  const align::Options options{
      align::Mode::local, {}, align::Output::score, align::blosum62_scoring(11, 1)};
  check_search(sets, options, {0, 1});
  check_search(sets, options, {0, 1}, 1 << 20);  // no room for the borders of all
}

TEST_CASE("gpu.align_search: batches by tile and batches by bundle in one run", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 10);
  Sets sets;
  // Two bundles leave no more of their tiles empty than one: 28 rows a lane, 32 lanes a track.
  const std::vector<std::int64_t> lengths = {896, 896, 504, 504, 392, 392};
  std::vector<std::vector<std::uint8_t>> queries;
  for (const std::int64_t length : lengths) {
    queries.push_back(test::random_residues(random, static_cast<std::size_t>(length), 20));
    sets.builder.add_query(queries.back());
  }
  const std::vector<std::int32_t> longest = {300, 280, 250, 40};
  for (const std::int32_t length : longest) {
    for (std::int32_t i = 0; i < gpu::align::kSearchTargets; ++i) {
      const auto n = static_cast<std::size_t>(length - i);
      if (i % 3 == 0) {
        sets.builder.add_target(test::random_residues(random, n, 20));
        continue;
      }
      // Similar from one tile to the next; as long as was asked for.
      const auto& query = queries[static_cast<std::size_t>(i) % queries.size()];
      const std::ptrdiff_t from = n + 150 < query.size() ? 150 : 0;
      auto target = test::mutated(random, {query.begin() + from, query.end()}, 20, 7);
      target.resize(n, 3);
      sets.builder.add_target(target);
    }
  }

  constexpr std::uint64_t kBudget = 1088 << 10;
  gpu::Stream stream;
  const auto batches = batches_of(longest);
  const std::uint32_t n_blocks = gpu::align::count_search_blocks(~std::uint64_t{0}, stream);
  const auto plan = gpu::align::plan_search(
      lengths, gpu::align::kSearchRows,
      gpu::align::choose_bundles(lengths, gpu::align::kSearchRows, batches, n_blocks), 24);
  const auto schedule = gpu::align::schedule_search(plan, batches, n_blocks, kBudget / 8);
  CHECK(plan.bundles.size() > 1);
  CHECK(schedule.n_split > 0);
  CHECK(schedule.n_split < batches.size());

  const align::Options options{
      align::Mode::local, {}, align::Output::score, align::blosum62_scoring(11, 1)};
  check_search(sets, options, {0, 1}, kBudget);
}
