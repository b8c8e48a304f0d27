#include "lib/align/gpu/pair_batch_gpu.hpp"

#include "lib/align/gpu/scheme_gpu.hpp"
#include "tests/unit/gpu/align_support.hpp"

using namespace biogpu;

namespace {

constexpr unsigned kSeed = 20261122;

// Plans batches of pairs with their paths; nothing is computed, so no device is needed.
struct Plans {
  explicit Plans(const test::WorkBuilder& builder)
      : work(builder.work()), settings(settings_of(options)), four_letters(work, true) {}

  static gpu::align::BatchSettings settings_of(const align::Options& options) {
    gpu::align::BatchSettings settings;
    settings.scheme = align::scheme_of(options);
    settings.max_score = options.scoring.max_score();
    settings.min_score = options.scoring.min_score();
    settings.with_path = settings.with_runs = true;
    return settings;
  }

  std::uint64_t bytes_of(std::size_t i) const {
    const std::uint64_t m = work.queries.length(work.pairs[i].query);
    const std::uint64_t n = work.targets.length(work.pairs[i].target);
    if (m == 0 || n == 0) return 0;
    const auto kernel =
        gpu::align::choose_kernel(static_cast<std::int64_t>(m), static_cast<std::int64_t>(n),
                                  four_letters(work.pairs[i].target), settings);
    return align::planned_bytes(m, n, kernel, settings);
  }

  // Past the last pair that fits beside those from `first` on.
  std::size_t last_that_fits(std::size_t first, std::uint64_t max_bytes) const {
    std::uint64_t sum = 0;
    for (; first < work.pairs.size() && bytes_of(first) <= max_bytes - sum; ++first)
      sum += bytes_of(first);
    return first;
  }

  align::Options options{
      align::Mode::global, {}, align::Output::cigar, align::dna_scoring(2, -3, 5, 2)};
  align::Work work;
  gpu::align::BatchSettings settings;
  align::FourLetters four_letters;
};

test::WorkBuilder random_pairs(std::size_t n) {
  std::mt19937 random(kSeed);
  test::WorkBuilder builder;
  for (std::size_t i = 0; i < n; ++i)
    builder.add(test::random_residues(random, random() % 30, 4),
                test::random_residues(random, random() % 30, random() % 9 == 0 ? 5 : 4));
  return builder;
}

}  // namespace

TEST_CASE("gpu.align_batch_plan: a batch of few pairs looks at few", "[gpu]") {
  const auto builder = random_pairs(20000);
  const Plans plans(builder);
  align::BatchWork batch(plans.work, plans.options, plans.settings);
  std::size_t n_last = 0;
  for (std::size_t first = 0; first < plans.work.pairs.size(); first = batch.last()) {
    batch.plan(first, 20000, plans.four_letters);
    const std::size_t n = batch.last() - first;
    REQUIRE(n > 0);
    REQUIRE(n < 200);
    REQUIRE(batch.n_looked_at() <= 64 + 4 * (n + n_last));
    n_last = n;
  }
}

TEST_CASE("gpu.align_batch_plan: a batch takes what fits, whatever the one before took", "[gpu]") {
  auto builder = random_pairs(5000);
  std::mt19937 random(kSeed + 1);
  const auto large = test::random_residues(random, 3000, 4);
  builder.add(large, large);  // wants the whole device
  for (std::uint32_t i = 0; i < 500; ++i) builder.add_pair(i, 499 - i);
  const Plans plans(builder);
  align::BatchWork batch(plans.work, plans.options, plans.settings);
  // Bounds of a few pairs, and of more than all windows of a growing batch.
  const std::uint64_t bounds[] = {20000, 1000000, 5000, 300000};
  std::size_t n_large = 0;
  for (std::size_t first = 0, i = 0; first < plans.work.pairs.size(); ++i) {
    const std::uint64_t max_bytes = bounds[i % 4];
    batch.plan(first, max_bytes, plans.four_letters);
    REQUIRE(batch.first() == first);
    REQUIRE(batch.last() == plans.last_that_fits(first, max_bytes));
    align::BatchWork fresh(plans.work, plans.options, plans.settings);
    fresh.plan(first, max_bytes, plans.four_letters);
    REQUIRE(batch.last() == fresh.last());
    REQUIRE(batch.size() == fresh.size());
    REQUIRE(batch.bytes() == fresh.bytes());
    n_large += batch.last() == first ? 1 : 0;
    first = std::max(first + 1, batch.last());
  }
  CHECK(n_large == 1);
}

TEST_CASE("gpu.align_batch_plan: a batch takes all where all fit", "[gpu]") {
  for (const std::size_t n : {1, 63, 64, 65, 1024, 1025, 5000}) {
    const auto builder = random_pairs(n);
    const Plans plans(builder);
    align::BatchWork batch(plans.work, plans.options, plans.settings);
    batch.plan(0, std::uint64_t{1} << 30, plans.four_letters);
    CHECK(batch.last() == n);
    CHECK(batch.n_looked_at() == n);
  }
}
