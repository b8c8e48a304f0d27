#include "lib/ops/message_passing/segment_sum.hpp"

#include <numeric>

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

namespace {

// Segments of 0, 1, some, 0, many and a few rows; 75 in all.
const std::vector<std::int32_t> kStarts{0, 0, 1, 5, 5, 72, 75};

}  // namespace

TEST_CASE("ops.segment_sum: sums of segments of any length, in any order of rows", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool ordered = GENERATE(false, true);
  const std::int64_t d = GENERATE(1, 3, 8, 33);
  const Pair x = bed.random({80, d}, 1.0f, false);
  const test::Indices starts = bed.indices(kStarts);
  std::vector<std::int32_t> order;
  for (std::int32_t e = 0; e < 75; ++e) order.push_back(e * 31 % 80);
  const test::Indices rows = bed.indices(order);
  const Pair out = bed.unset({6, d}, false);
  ops::segment_sum(bed.reference(),
                   {x.host, starts.host, ordered ? rows.host : tensor::Tensor(), out.host});
  ops::segment_sum(bed.device(),
                   {x.device, starts.device, ordered ? rows.device : tensor::Tensor(), out.device});
  CHECK(bed.difference(out) < 4e-6);  // roundings of 67 additions
  CHECK(out.values[0] == 0.0f);       // no rows
  CHECK(out.values[static_cast<std::size_t>(d)] == x.values[0]);
}

TEST_CASE("ops.segment_sum: means, 0 of no rows", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(1, 3, 8, 33);
  const Pair x = bed.random({80, d}, 1.0f, false), out = bed.unset({6, d}, false);
  const test::Indices starts = bed.indices({0, 0, 1, 3, 3, 72, 75});
  ops::segment_sum(bed.reference(), {x.host, starts.host, {}, out.host, true});
  ops::segment_sum(bed.device(), {x.device, starts.device, {}, out.device, true});
  CHECK(bed.difference(out) < 4e-6);
  CHECK(bed.fetch(out.device)[0] == 0.0f);
  CHECK(out.values[static_cast<std::size_t>(d)] == x.values[0]);
}

TEST_CASE("ops.segment_sum: in double precision, small numbers next to large ones stay", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool ordered = GENERATE(false, true);
  const std::int64_t d = GENERATE(1, 9);
  std::vector<float> values(static_cast<std::size_t>(101 * d), 1e-3f);
  std::fill_n(values.begin(), d, 1e8f);
  const Pair x = bed.pair({101, d}, values, false);
  const test::Indices starts = bed.indices({0, 100});
  std::vector<std::int32_t> order(100);
  std::iota(order.begin(), order.end(), 1);  // all but the large one
  const test::Indices rows = bed.indices(order);
  const tensor::Tensor out(bed.device().allocate(static_cast<std::size_t>(8 * d)),
                           tensor::DType::f64, {1, d});
  ops::segment_sum(bed.device(),
                   {x.device, starts.device, ordered ? rows.device : tensor::Tensor(), out});
  // Doubles as pairs of 32-bit numbers, whose bits are copied.
  std::vector<double> got(static_cast<std::size_t>(d));
  bed.device().copy_out(reinterpret_cast<float*>(got.data()),
                        tensor::Tensor(out.data, tensor::DType::f32, {1, 2 * d}));
  bed.device().synchronize();
  for (const double sum : got) CHECK(std::fabs(sum - (ordered ? 0.1 : 1e8 + 0.099)) < 1e-6);
}

TEST_CASE("ops.segment_sum: a segment's bytes do not depend on the others", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(1, 33);
  const Pair x = bed.random({75, d}, 1.0f, false);
  const test::Indices starts = bed.indices(kStarts), one = bed.indices({5, 72});
  const Pair all = bed.unset({6, d}, false), alone = bed.unset({1, d}, false);
  ops::segment_sum(bed.device(), {x.device, starts.device, {}, all.device});
  ops::segment_sum(bed.device(), {x.device, one.device, {}, alone.device});
  const std::vector<float> many = bed.fetch(all.device), single = bed.fetch(alone.device);
  CHECK(std::equal(single.begin(), single.end(), many.begin() + 4 * d));
}
