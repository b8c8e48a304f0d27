#include "lib/ops/message_passing/segment_order.hpp"

#include <algorithm>

#include "lib/ops/message_passing/segment_sum.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

namespace {

std::vector<std::int32_t> fetch_order(Bed& bed, const tensor::Tensor& numbers) {
  std::vector<std::int32_t> got(static_cast<std::size_t>(numbers.size()));
  bed.device().copy_out(got.data(), numbers);
  bed.device().synchronize();
  return got;
}

// Targets without order, most of them few, some segments without any.
std::vector<std::int32_t> some_targets(std::int32_t n, std::int32_t n_segments) {
  std::vector<std::int32_t> targets;
  for (std::int32_t e = 0; e < n; ++e)
    targets.push_back(e % 3 == 0 ? n_segments / 2 : e * 37 % n_segments / 2 * 2);
  return targets;
}

}  // namespace

TEST_CASE("ops.segment_order: rows by segment, in their own order", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int32_t n = GENERATE(1, 31, 64, 257, 3000), n_segments = GENERATE(1, 2, 63, 256, 700);
  CAPTURE(n, n_segments);
  const test::Indices targets = bed.indices(some_targets(n, n_segments));
  test::Indices starts =
      bed.indices(std::vector<std::int32_t>(static_cast<std::size_t>(n_segments) + 1, 7));
  test::Indices order = bed.indices(std::vector<std::int32_t>(static_cast<std::size_t>(n), 7));
  ops::segment_order(bed.reference(), {targets.host, starts.host, order.host});
  ops::segment_order(bed.device(), {targets.device, starts.device, order.device});
  CHECK(fetch_order(bed, starts.device) == starts.values);
  CHECK(fetch_order(bed, order.device) == order.values);
}

TEST_CASE("ops.segment_order: no rows, and no segments", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const test::Indices starts = bed.indices({7, 7, 7}), none = bed.indices({7});
  ops::segment_order(bed.device(),
                     {none.device.slice(0, 0, 0), starts.device, none.device.slice(0, 0, 0)});
  CHECK(fetch_order(bed, starts.device) == std::vector<std::int32_t>{0, 0, 0});
  CHECK(fetch_order(bed, none.device) == std::vector<std::int32_t>{7});
  ops::segment_order(bed.device(),
                     {none.device.slice(0, 0, 0), none.device, none.device.slice(0, 0, 0)});
  CHECK(fetch_order(bed, none.device) == std::vector<std::int32_t>{0});
}

TEST_CASE("ops.segment_order: means of rows by their targets", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int32_t n = 300, n_segments = 41;
  const std::int64_t d = GENERATE(3, 20);
  const std::vector<std::int32_t> target = some_targets(n, n_segments);
  const test::Indices targets = bed.indices(target);
  const test::Indices starts = bed.indices(std::vector<std::int32_t>(n_segments + 1));
  const test::Indices order = bed.indices(std::vector<std::int32_t>(n));
  const Pair x = bed.random({n, d}, 1, false);
  Pair out = bed.unset({n_segments, d}, false);
  ops::segment_order(bed.device(), {targets.device, starts.device, order.device});
  ops::segment_sum(bed.device(), {x.device, starts.device, order.device, out.device, true});
  // The definition, row by row.
  std::vector<double> sums(out.values.size());
  std::vector<int> counts(static_cast<std::size_t>(n_segments));
  for (std::size_t e = 0; e < target.size(); ++e) {
    const auto to = static_cast<std::size_t>(target[e]), width = static_cast<std::size_t>(d);
    ++counts[to];
    for (std::size_t c = 0; c < width; ++c) sums[to * width + c] += x.values[e * width + c];
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    out.values[i] =
        static_cast<float>(sums[i] / std::max(1, counts[i / static_cast<std::size_t>(d)]));
  CHECK(bed.difference(out) < 4e-6);
}
