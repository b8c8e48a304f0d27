#include "lib/ops/reduction/max_pool.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

TEST_CASE("ops.max_pool: windows, with and without a rest", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t size = GENERATE(2, 3), d = GENERATE(33, 64);
  const bool rest = GENERATE(false, true), operand = GENERATE(false, true);
  const std::vector<std::int32_t> lengths{2, 41, 1, 0, 18};
  std::vector<std::int32_t> pooled;
  for (const std::int32_t n : lengths)
    pooled.push_back((n + (rest ? static_cast<std::int32_t>(size) - 1 : 0)) /
                     static_cast<std::int32_t>(size));
  const test::RaggedPair in = bed.segments(lengths), out = bed.segments(pooled);
  const std::int64_t m = out.host.n_rows;
  const Pair x = bed.random({62, d}, 2.0f, operand), y = bed.unset({m, d}, operand);
  const Pair scale = bed.random({d}, 0.5f, false), next = bed.unset({m, d}, true);
  ops::max_pool(bed.reference(), {x.host,
                                  size,
                                  &in.host,
                                  &out.host,
                                  y.host,
                                  {scale.host, {}, ops::Activation::gelu_erf, next.host}});
  ops::max_pool(bed.device(), {x.device,
                               size,
                               &in.device,
                               &out.device,
                               y.device,
                               {scale.device, {}, ops::Activation::gelu_erf, next.device}});
  CHECK(bed.difference(y) == 0);
  CHECK(bed.difference(next) < (bed.is_cpu() ? 1e-6 : bed.operand_bound()));
}

TEST_CASE("ops.max_pool: what is no number stays so, also behind activations", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const auto activation = GENERATE(ops::Activation::none, ops::Activation::relu,
                                   ops::Activation::gelu_sigmoid, ops::Activation::softplus);
  constexpr std::int64_t kRows = 6, kColumns = 8;
  std::vector<float> values(kRows * kColumns, 0.5f);
  const float none = std::numeric_limits<float>::quiet_NaN();
  values[0] = none;                                           // the first of a window
  values[static_cast<std::size_t>(3 * kColumns + 5)] = none;  // the last of one
  const test::RaggedPair in = bed.segments({6}), out = bed.segments({3});
  const Pair x = bed.pair({kRows, kColumns}, values, false), y = bed.unset({3, kColumns}, false),
             next = bed.unset({3, kColumns}, true);
  ops::max_pool(bed.reference(),
                {x.host, 2, &in.host, &out.host, y.host, {{}, {}, activation, next.host}});
  ops::max_pool(
      bed.device(),
      {x.device, 2, &in.device, &out.device, y.device, {{}, {}, activation, next.device}});
  for (const Pair* pair : {&y, &next}) {
    const std::vector<float> got = bed.fetch(pair->device);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bool expected = i == 0 || i == kColumns + 5;
      CAPTURE(i, static_cast<int>(activation));
      CHECK(std::isnan(got[i]) == expected);
      CHECK(std::isnan(pair->host.as<float>()[i]) == expected);
    }
  }
}
