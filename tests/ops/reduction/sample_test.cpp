#include "lib/ops/reduction/sample.hpp"

#include <limits>

#include "lib/core/error.hpp"
#include "lib/core/philox.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using ops::Sample;
using test::Bed;
using test::Pair;

namespace {

std::vector<std::int32_t> fetch_columns(Bed& bed, const tensor::Tensor& columns) {
  std::vector<std::int32_t> got(static_cast<std::size_t>(columns.size()));
  bed.device().copy_out(got.data(), columns);
  bed.device().synchronize();
  return got;
}

test::Indices unset_columns(Bed& bed, std::int64_t n) {
  return bed.indices(std::vector<std::int32_t>(static_cast<std::size_t>(n), -7));
}

}  // namespace

TEST_CASE("ops.sample: the columns of the reference, on every context", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t v = GENERATE(1, 2, 21, 31, 32, 33, 64, 65, 229), n = 67;
  const bool own_streams = GENERATE(false, true);
  CAPTURE(v, own_streams);
  const Pair wide = bed.random({n, v + 2}, 2, false);
  std::vector<std::int32_t> stream, step;
  for (std::int32_t r = 0; r < n; ++r) {
    stream.push_back(r * 5 % 11);
    step.push_back(r + 1000);
  }
  const test::Indices streams = bed.indices(stream), steps = bed.indices(step);
  test::Indices out = unset_columns(bed, n);
  const auto run = [&](tensor::Context& context, const auto& of) {
    Sample op;
    op.logits = of(wide).slice(1, 1, v + 1);
    op.temperature = 0.8f;
    op.seed = 0x123456789abcdefu;
    if (own_streams) op.streams = of(streams);
    if (own_streams) op.steps = of(steps);
    op.out = of(out);
    ops::sample(context, op);
  };
  run(bed.reference(), [](const auto& x) { return x.host; });
  run(bed.device(), [](const auto& x) { return x.device; });
  CHECK(fetch_columns(bed, out.device) == out.values);
}

TEST_CASE("ops.sample: columns as often as their probabilities say", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const float temperature = GENERATE(0.5f, 2.0f);
  const std::vector<float> logits{0.5f, -1, 2, 0, -30, 1};
  const std::int64_t n = bed.is_cpu() ? 20000 : 2000;
  std::vector<float> rows;
  for (std::int64_t r = 0; r < n; ++r) rows.insert(rows.end(), logits.begin(), logits.end());
  const Pair x = bed.pair({n, 6}, rows, false);
  const test::Indices out = unset_columns(bed, n);
  Sample op;
  op.logits = x.device;
  op.temperature = temperature;
  op.seed = 42;
  op.out = out.device;
  ops::sample(bed.device(), op);
  std::vector<double> counts(6);
  for (const std::int32_t c : fetch_columns(bed, out.device)) {
    REQUIRE((c >= 0 && c < 6));
    ++counts[static_cast<std::size_t>(c)];
  }
  double sum = 0;
  for (const float z : logits) sum += std::exp(static_cast<double>(z / temperature));
  for (std::size_t c = 0; c < 6; ++c) {
    const double p = std::exp(static_cast<double>(logits[c] / temperature)) / sum;
    const auto total = static_cast<double>(n);
    CHECK(std::fabs(counts[c] - total * p) <= 4.5 * std::sqrt(total * p * (1 - p)) + 1e-3);
  }
}

TEST_CASE("ops.sample: the generator is the one that is named", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  // 1,000 columns of one probability: the column is that of u.
  const Pair x = bed.pair({2, 1000}, std::vector<float>(2000, 1.5f), false);
  const test::Indices streams = bed.indices({9, 3}), steps = bed.indices({4, 100});
  const test::Indices out = unset_columns(bed, 2);
  Sample op;
  op.logits = x.device;
  op.seed = 0xfedcba9876543210u;
  op.streams = streams.device;
  op.steps = steps.device;
  op.out = out.device;
  ops::sample(bed.device(), op);
  std::vector<std::int32_t> right;
  for (const auto& [stream, step] : {std::pair{9u, 4u}, {3u, 100u}})
    right.push_back(static_cast<std::int32_t>(
        1000 * philox_unit(philox({step, stream, 3, 0}, {0x76543210, 0xfedcba98}), 0)));
  CHECK(fetch_columns(bed, out.device) == right);
}

TEST_CASE("ops.sample: a row's draw does not depend on the others or on threads", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair x = bed.random({50, 33}, 2, false);
  std::vector<std::int32_t> stream;
  for (std::int32_t r = 0; r < 50; ++r) stream.push_back(r);
  const test::Indices streams = bed.indices(stream);
  const test::Indices all = unset_columns(bed, 50), one = unset_columns(bed, 3);
  Sample op;
  op.logits = x.device;
  op.out = all.device;
  ops::sample(bed.device(), op);  // stream r where none is given
  op.logits = x.device.slice(0, 40, 43);
  op.streams = streams.device.slice(0, 40, 43);
  op.out = one.device;
  if (bed.is_cpu()) {
    ops::sample(*ops::make_cpu_context(1), op);
  } else {
    ops::sample(bed.device(), op);
  }
  const std::vector<std::int32_t> many = fetch_columns(bed, all.device);
  CHECK(fetch_columns(bed, one.device) ==
        std::vector<std::int32_t>(many.begin() + 40, many.begin() + 43));
}

TEST_CASE("ops.sample: NaN, infinities, nothing to draw, and temperatures that are none", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  const Pair x = bed.pair(
      {4, 3}, {nan, -infinity, 1, -infinity, -infinity, nan, 3, infinity, 5, nan, nan, nan}, false);
  const test::Indices out = unset_columns(bed, 4);
  Sample op;
  op.logits = x.device;
  op.out = out.device;
  ops::sample(bed.device(), op);
  CHECK(fetch_columns(bed, out.device) == std::vector<std::int32_t>{2, 0, 1, 0});
  op.temperature = GENERATE(0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN());
  CHECK_THROWS_AS(ops::sample(bed.device(), op), Error);
  op.temperature = 1;
  op.logits = x.device.slice(0, 0, 0);
  op.out = out.device.slice(0, 0, 0);
  ops::sample(bed.device(), op);
}
