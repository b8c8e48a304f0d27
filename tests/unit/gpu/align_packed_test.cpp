#include <array>

#include "gpu/align/pairs/kernel_choice.hpp"
#include "gpu/align/pairs/pair_i16.hpp"
#include "lib/align/align.hpp"
#include "tests/unit/gpu/align_support.hpp"

using namespace biogpu;

namespace {

constexpr unsigned kSeed = 20250102;

// Lengths around lanes and tiles of the shapes 8 x 8, 8 x 13, 8 x 19 and 16 x 16.
constexpr std::array<std::size_t, 18> kLengths = {1,   7,   8,   9,   63,  64,  65,  103, 104,
                                                  105, 151, 152, 153, 255, 256, 257, 300, 12};

// An odd number of pairs, whose targets differ in length from their neighbours'.
test::WorkBuilder pairs_of_all_lengths(std::mt19937& random) {
  test::WorkBuilder builder;
  for (std::size_t i = 0; i < kLengths.size(); ++i) {
    const auto query = test::random_residues(random, kLengths[i], 4);
    builder.add(query, test::mutated(random, query, 4, 8));
    builder.add(query, test::random_residues(random, kLengths[(i * 7 + 3) % kLengths.size()], 4));
  }
  builder.add({0, 1, 2, 3, 0}, {0, 1, 2, 3, 0, 1, 1});
  // So many rows that they go to 32 lanes.
  builder.add(test::random_residues(random, 2070, 4), test::random_residues(random, 45, 4));
  builder.add(test::random_residues(random, 2600, 4), test::random_residues(random, 20, 4));
  return builder;
}

void check_ends(const align::Work& work, const align::Options& options) {
  const auto aligner = align::make_gpu_aligner(0, options, 0);
  test::check_equal(work, options, aligner->align(work), align::align_ref(work, options));
}

gpu::align::BatchSettings settings_for(bool local, int max_score, int open, int extend) {
  gpu::align::BatchSettings settings;
  settings.scheme.local = local;
  settings.scheme.gap_open = open;
  settings.scheme.gap_extend = extend;
  settings.max_score = max_score;
  return settings;
}

}  // namespace

TEST_CASE("gpu.pair_score_i16: ends equal the reference in every mode", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed);
  const auto builder = pairs_of_all_lengths(random);
  for (auto options : test::all_modes(align::dna_scoring(2, -3, 5, 2))) {
    options.output = align::Output::ends;
    check_ends(builder.work(), options);
  }
}

TEST_CASE("gpu.pair_score_i16: unusual costs equal the reference", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 1);
  const auto builder = pairs_of_all_lengths(random);
  for (const auto& [open, extend] : {std::pair{1, 3}, {0, 0}, {4, 0}, {2, 2}, {0, 1}, {20, 20}}) {
    for (const auto mode : {align::Mode::global, align::Mode::semiglobal, align::Mode::local}) {
      check_ends(builder.work(), {mode,
                                  {true, true, true, true},
                                  align::Output::ends,
                                  align::dna_scoring(2, -1, open, extend)});
    }
  }
}

TEST_CASE("gpu.pair_trace_i16: paths equal the reference for any mixture of lengths",
          "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 4);
  test::WorkBuilder builder;
  for (int i = 0; i < 41; ++i) {
    const auto query = test::random_residues(random, 1 + random() % 420, 4);
    builder.add(query, i % 3 == 0 ? test::random_residues(random, 1 + random() % 300, 4)
                                  : test::mutated(random, query, 4, 9));
  }
  for (const auto mode : {align::Mode::global, align::Mode::semiglobal, align::Mode::local}) {
    for (const auto output : {align::Output::ends, align::Output::cigar}) {
      check_ends(builder.work(),
                 {mode, {true, true, true, true}, output, align::dna_scoring(2, -3, 5, 2)});
    }
  }
}

TEST_CASE("gpu.pair_trace_i16: paths under the widest costs that its guards allow",
          "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 5);
  test::WorkBuilder builder;
  for (int i = 0; i < 12; ++i) {
    const auto query = test::random_residues(random, 20 + random() % 80, 4);
    builder.add(query, i % 2 == 0 ? test::random_residues(random, 1 + random() % 90, 4)
                                  : test::mutated(random, query, 4, 6));
  }
  for (const auto& [match, mismatch, open, extend] :
       {std::array{12, -30, 67, 1}, {12, -30, 1, 67}, {60, -60, 25, 5}, {60, -60, 26, 3}}) {
    for (const auto mode : {align::Mode::global, align::Mode::semiglobal, align::Mode::local}) {
      check_ends(builder.work(), {mode,
                                  {true, true, true, true},
                                  align::Output::cigar,
                                  align::dna_scoring(match, mismatch, open, extend)});
    }
  }
}

TEST_CASE("gpu.pair_score_i16: N in queries and in targets", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 2);
  test::WorkBuilder builder;
  for (int i = 0; i < 12; ++i) {
    auto query = test::random_residues(random, 50, 4);
    auto target = test::mutated(random, query, 4, 9);
    if (i % 2 == 0) query[20] = 4;
    if (i % 3 == 0) target[30] = 4;
    builder.add(query, target);
  }
  for (const auto mode : {align::Mode::global, align::Mode::local}) {
    check_ends(builder.work(), {mode, {}, align::Output::ends, align::dna_scoring(2, -3, 5, 2)});
  }
}

TEST_CASE("gpu.pair_score_i16: scores on both sides of its range", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 3);
  test::WorkBuilder builder;
  for (std::size_t length = 150; length < 172; ++length) {
    const auto query = test::random_residues(random, length, 4);
    builder.add(query, query);                                 // up to 17,100
    builder.add(query, std::vector<std::uint8_t>(length, 3));  // far below 0
  }
  for (const auto mode : {align::Mode::global, align::Mode::semiglobal, align::Mode::local}) {
    for (const int mismatch : {-27, -28}) {  // raised scores fit a byte, and do not
      check_ends(builder.work(), {mode,
                                  {true, false, true, false},
                                  align::Output::ends,
                                  align::dna_scoring(100, mismatch, 30, 27)});
    }
  }
}

TEST_CASE("gpu.kernel_choice: packed words are used only where every score fits", "[gpu]") {
  using gpu::align::choose_kernel;
  const auto local = settings_for(true, 2, 5, 2);
  CHECK(choose_kernel(150, 150, true, local).packed);
  CHECK_FALSE(choose_kernel(150, 150, false, local).packed);
  CHECK(choose_kernel(64, 1000000, true, settings_for(true, 100, 27, 1)).packed);
  auto wide = settings_for(true, 100, 28, 1);
  wide.min_score = -27;
  CHECK(choose_kernel(64, 64, true, wide).packed);
  wide.min_score = -28;  // scores from -28 to 100 do not fit a byte once they are raised
  CHECK_FALSE(choose_kernel(64, 64, true, wide).packed);
  // 8 x 19 rows: 152 * 100 is within the limit of 16,128, 2 * 104 * 100 is not.
  CHECK(choose_kernel(152, 500, true, settings_for(true, 100, 1, 1)).packed);
  CHECK_FALSE(choose_kernel(153, 500, true, settings_for(true, 100, 1, 1)).packed);
  const auto global = settings_for(false, 1, 5, 10);
  CHECK(choose_kernel(152, 1459, true, global).packed);
  CHECK_FALSE(choose_kernel(152, 1460, true, global).packed);
  auto path = local;
  path.with_path = true;
  CHECK(choose_kernel(150, 150, true, path).packed);
}

TEST_CASE("gpu.kernel_choice: the shape takes the least work, and few tiles", "[gpu]") {
  const auto settings = settings_for(true, 2, 5, 2);
  CHECK(gpu::align::choose_kernel(150, 150, true, settings).group().tile_rows() == 152);
  CHECK(gpu::align::choose_kernel(64, 150, true, settings).group().tile_rows() == 64);
  const auto wide = gpu::align::choose_kernel(1500, 150, false, settings);
  CHECK(wide.group().tile_rows() == 512);
  CHECK(wide.n_tiles == 3);
  CHECK(gpu::align::choose_kernel(2000, 2000, true, settings).group().n_lanes == 16);
  CHECK(gpu::align::choose_kernel(2100, 2000, true, settings).group().n_lanes == 32);
  CHECK(gpu::align::choose_kernel(10000, 10000, true, settings).group().n_lanes == 32);
}
