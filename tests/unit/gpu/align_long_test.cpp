#include <algorithm>

#include "gpu/align/long_aligner.hpp"
#include "lib/align/align.hpp"
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

}  // namespace

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
