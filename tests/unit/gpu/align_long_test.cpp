#include <algorithm>

#include "gpu/align/long/long_aligner.hpp"
#include "gpu/rt/buffer.hpp"
#include "lib/align/align.hpp"
#include "lib/align/gpu/rows_gpu.hpp"
#include "lib/align/gpu/scheme_gpu.hpp"
#include "lib/core/error.hpp"
#include "tests/unit/gpu/align_support.hpp"

using namespace biogpu;

namespace {

constexpr unsigned kSeed = 77;

// Three rows and columns of blocks, with ends off their borders, in memory that holds no full
// trace.
void check_in_blocks(const align::Options& options, std::uint64_t max_device_bytes) {
  std::mt19937 random(kSeed);
  test::WorkBuilder builder;
  const auto query = test::random_residues(random, 1100, 4);
  builder.add(query, test::mutated(random, query, 4, 12));
  builder.add(query, test::random_residues(random, 700, 4));
  // Locally the best stretch lies in the first blocks, and twice, at equal scores.
  auto repeated = test::random_residues(random, 1300, 4);
  std::copy(query.begin() + 50, query.begin() + 200, repeated.begin() + 20);
  std::copy(query.begin() + 50, query.begin() + 200, repeated.begin() + 900);
  builder.add(query, repeated);
  builder.add(repeated, query);
  builder.add(test::random_residues(random, 30, 4), test::random_residues(random, 30, 4));
  const auto work = builder.work();
  const auto aligner = align::make_gpu_aligner(0, options, max_device_bytes);
  test::check_equal(work, options, aligner->align(work), align::align_ref(work, options));
  CHECK(aligner->peak_device_bytes() <= max_device_bytes + 16384);
}

// The settings of a LongAligner and the tables that they point to.
struct LongSettings {
  explicit LongSettings(const align::Options& options) {
    settings.scheme = align::scheme_of(options);
    settings.max_score = options.scoring.max_score();
    settings.min_score = options.scoring.min_score();
    settings.with_ends = options.output != align::Output::score;
    settings.with_path = options.output == align::Output::cigar;
    settings.with_runs = settings.with_path;
    settings.scheme.packed_raise = gpu::align::packed_raise(settings);
    const auto table = align::score_table(options.scoring);
    const auto words = align::packed_words(options.scoring, settings.scheme.packed_raise);
    scores = gpu::DeviceBuffer<std::int8_t>(table.size());
    packed = gpu::DeviceBuffer<std::uint32_t>(words.size());
    gpu::Stream stream;
    stream.copy_to_device(scores.data(), table.data(), table.size());
    stream.copy_to_device(packed.data(), words.data(), packed.bytes());
    stream.synchronize();
    settings.scheme.scores = scores.data();
    settings.scheme.packed_words = packed.data();
  }
  gpu::align::BatchSettings settings;
  gpu::DeviceBuffer<std::int8_t> scores;
  gpu::DeviceBuffer<std::uint32_t> packed;
};

// One pair through LongAligner, whatever its size, against the reference.
void check_long(const align::Options& options, const std::vector<std::uint8_t>& query,
                const std::vector<std::uint8_t>& target) {
  test::WorkBuilder builder;
  builder.add(query, target);
  const auto work = builder.work();
  const LongSettings device(options);
  gpu::align::LongAligner aligner(device.settings);
  const auto plan = gpu::align::plan_long_pair(static_cast<std::int64_t>(query.size()),
                                               static_cast<std::int64_t>(target.size()),
                                               device.settings.with_path, std::uint64_t{1} << 30);
  REQUIRE(plan.has_value());
  const auto result = aligner.align({query, target}, *plan);
  align::Alignments got;
  got.rows.resize(1);
  align::set_gpu_row(options, got.rows[0], result.end, result.path);
  got.rows[0].cigar_begin = 0;
  got.cigar = result.runs;
  test::check_equal(work, options, got, align::align_ref(work, options));
}

}  // namespace

TEST_CASE("gpu.long_strip: sizes around those of strips, halves and rounds of steps",
          "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed);
  const std::pair<std::size_t, std::size_t> sizes[] = {{1, 1},     {1, 700},    {700, 1},
                                                       {511, 63},  {512, 64},   {513, 65},
                                                       {1024, 95}, {1025, 127}, {2049, 129}};
  for (const auto& [n_rows, n_columns] : sizes) {
    const auto query = test::random_residues(random, n_rows, 4);
    auto target = test::mutated(random, query, 4, 12);
    target.resize(n_columns, 2);
    for (const auto mode : {align::Mode::global, align::Mode::semiglobal, align::Mode::local}) {
      for (const auto output : {align::Output::score, align::Output::ends, align::Output::cigar}) {
        check_long({mode, {true, true, true, true}, output, align::dna_scoring(2, -3, 5, 2)}, query,
                   target);
      }
    }
  }
}

TEST_CASE("gpu.long_strip: scores far past 16 bits, both ways", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed);
  auto query = test::random_residues(random, 2300, 5);  // class 4 matches nothing in the target
  auto target = test::random_residues(random, 2500, 4);
  const auto shared = test::random_residues(random, 2000, 4);
  std::copy(shared.begin(), shared.end(), query.begin() + 150);
  const auto similar = test::mutated(random, shared, 4, 30);
  target.insert(target.begin() + 1500, similar.begin(), similar.end());
  // 2,000 matches are worth 24,000, 6,000 columns of gap -36,000.
  const auto scoring = align::dna_scoring(12, -15, 7, 6);
  const align::Options local{align::Mode::local, {}, align::Output::cigar, scoring};
  const align::Options score{align::Mode::local, {}, align::Output::score, scoring};
  const align::Options global{align::Mode::global, {}, align::Output::cigar, scoring};
  const align::Options ends{
      align::Mode::semiglobal, {false, true, true, false}, align::Output::ends, scoring};
  for (const align::Options& options : {local, score, global, ends})
    check_long(options, query, target);
  const auto wide = test::random_residues(random, 7000, 4);
  const auto few = test::random_residues(random, 40, 4);
  for (const align::Options& options : {local, score, global, ends}) {
    check_long(options, few, wide);
    check_long(options, wide, few);
  }
}

TEST_CASE("gpu.long_strip: costs are refused where neighbours may differ too much", "[gpu]") {
  gpu::align::BatchSettings settings;
  settings.max_score = 12;
  settings.scheme.gap_open = 7;
  CHECK(gpu::align::fits_strips(settings));
  settings.scheme.gap_open = 8;
  CHECK_FALSE(gpu::align::fits_strips(settings));
  settings.max_score = 2;
  settings.scheme.gap_extend = 9;  // F would not be what the strips take it for
  CHECK_FALSE(gpu::align::fits_strips(settings));
  settings.scheme.gap_open = 9;
  CHECK(gpu::align::fits_strips(settings));
}

TEST_CASE("gpu.long_pair: blocks smaller than the matrix fit a bound of memory", "[gpu]") {
  const auto roomy = gpu::align::plan_long_pair(100000, 100000, true, std::uint64_t{1} << 30);
  REQUIRE(roomy.has_value());
  CHECK(roomy->block_rows == 512);
  CHECK(roomy->bytes < (std::uint64_t{1} << 30));
  const auto tight = gpu::align::plan_long_pair(100000, 100000, true, std::uint64_t{64} << 20);
  REQUIRE(tight.has_value());
  CHECK(tight->block_rows > 512);
  CHECK(tight->bytes <= (std::uint64_t{64} << 20));
  CHECK_FALSE(gpu::align::plan_long_pair(100000, 100000, true, 1 << 20).has_value());
  const auto scores = gpu::align::plan_long_pair(100000, 100000, false, 8 << 20);
  REQUIRE(scores.has_value());
  CHECK(scores->n_kept_rows == 3);
}

TEST_CASE("gpu.long_pair: the path through blocks is that of the full matrix", "[gpu][device]") {
  if (!test::has_gpu()) return;
  for (const auto mode : {align::Mode::global, align::Mode::semiglobal, align::Mode::local}) {
    align::Options options{
        mode, {true, true, true, true}, align::Output::cigar, align::dna_scoring(2, -3, 5, 2)};
    check_in_blocks(options, 280000);
  }
}

TEST_CASE("gpu.long_pair: each free end is found across blocks", "[gpu][device]") {
  if (!test::has_gpu()) return;
  for (const align::FreeEnds ends :
       {align::FreeEnds{true, false, false, true}, align::FreeEnds{false, true, false, false}}) {
    for (const auto output : {align::Output::cigar, align::Output::ends}) {
      const align::Options options{align::Mode::semiglobal, ends, output,
                                   align::dna_scoring(1, -1, 2, 1)};
      check_in_blocks(options, output == align::Output::cigar ? 280000 : 60000);
    }
  }
}

TEST_CASE("gpu.long_pair: a pair that cannot fit is refused by name", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed);
  test::WorkBuilder builder;
  builder.add(test::random_residues(random, 1100, 4), test::random_residues(random, 1100, 4));
  const align::Options options{
      align::Mode::global, {}, align::Output::cigar, align::dna_scoring(2, -3, 5, 2)};
  const auto aligner = align::make_gpu_aligner(0, options, 20000);
  try {
    (void)aligner->align(builder.work());
    FAIL("a pair aligned in less memory than it needs");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::device_memory);
    CHECK(std::string(error.what()).find("1100") != std::string::npos);
  }
}
