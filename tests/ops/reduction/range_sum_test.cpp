#include "lib/ops/reduction/range_sum.hpp"

#include <cstring>
#include <vector>

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using tensor::DType;
using tensor::Tensor;
using test::Bed;
using test::Pair;

namespace {

// Empty ones, one row, as many rows as a thread loads ahead and one less and more, all, and one
// that overlaps them.
const std::vector<std::int32_t> kRanges{0, 0, 90, 90, 3, 4, 0, 8, 1, 8, 5, 14, 0, 90, 17, 83};
constexpr std::int64_t kRangesOf90 = 8;

Tensor upload(Bed& bed, const std::vector<double>& values) {
  const Tensor tensor(bed.device().allocate(values.size() * sizeof(double)), DType::f64,
                      {static_cast<std::int64_t>(values.size())});
  bed.device().copy_in(tensor, values.data());
  return tensor;
}

// Doubles as pairs of 32-bit numbers, whose bits are copied.
std::vector<double> fetch(Bed& bed, const Tensor& doubles) {
  std::vector<double> got(static_cast<std::size_t>(doubles.size()));
  bed.device().copy_out(reinterpret_cast<float*>(got.data()),
                        Tensor(doubles.data, DType::f32, {doubles.shape[0], 2 * doubles.shape[1]}));
  bed.device().synchronize();
  return got;
}

bool same_bytes(const std::vector<double>& x, const std::vector<double>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0;
}

}  // namespace

TEST_CASE("ops.range_sum: the bytes of sums row by row, of any ranges and columns", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(1, 31, 32, 33, 63, 64, 65, 511, 512, 1300);
  const bool ordered = GENERATE(false, true);
  // Rows are slices of wider ones.
  const Pair x = bed.random({90, d + 3}, 1.0f, false);
  const test::Indices ranges = bed.indices(kRanges);
  std::vector<std::int32_t> order;
  for (std::int64_t c = 0; c < d; ++c)
    order.push_back(static_cast<std::int32_t>((c * 7 + 1) % (d + 3)));
  const test::Indices columns = bed.indices(order);
  std::vector<double> factors;
  for (int r = 0; r < kRangesOf90; ++r) factors.push_back(1.0 / (3 + r));
  const std::vector<double> unset(static_cast<std::size_t>(kRangesOf90 * d), 7.0);
  const auto shaped = [&](const Tensor& flat, DType dtype, std::int64_t width) {
    return Tensor(flat.data, dtype, {kRangesOf90, width});
  };
  const Tensor out = shaped(upload(bed, unset), DType::f64, d);
  ops::range_sum(bed.device(), {x.device, shaped(ranges.device, DType::i32, 2),
                                upload(bed, factors), ordered ? columns.device : Tensor(), out});
  std::vector<double> right = unset;
  ops::range_sum(bed.reference(), {x.host, shaped(ranges.host, DType::i32, 2),
                                   Tensor(factors.data(), DType::f64, {kRangesOf90}),
                                   ordered ? columns.host : Tensor(),
                                   Tensor(right.data(), DType::f64, {kRangesOf90, d})});
  CHECK(same_bytes(fetch(bed, out), right));
  // By hand: no row, one row, and two steps that a fused one would round once.
  const auto at = [&](std::int64_t row, std::int64_t c) {
    const std::int64_t column = ordered ? order[static_cast<std::size_t>(c)] : c;
    return static_cast<double>(x.values[static_cast<std::size_t>(row * (d + 3) + column)]);
  };
  const std::vector<double> got = fetch(bed, out);
  for (std::int64_t c = 0; c < d; ++c) {
    REQUIRE(got[static_cast<std::size_t>(c)] == 0.0);
    REQUIRE(got[static_cast<std::size_t>(d + c)] == 0.0);
    REQUIRE(got[static_cast<std::size_t>(2 * d + c)] == factors[2] * at(3, c));
    double sum = 0;
    for (std::int64_t row = 0; row < 8; ++row) {
      const volatile double product = factors[3] * at(row, c);
      sum = sum + product;
    }
    REQUIRE(got[static_cast<std::size_t>(3 * d + c)] == sum);
  }
}

TEST_CASE("ops.range_sum: nothing to do without ranges", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair x = bed.random({3, 5}, 1.0f, false);
  ops::range_sum(bed.device(), {x.device,
                                Tensor(nullptr, DType::i32, {0, 2}),
                                Tensor(nullptr, DType::f64, {0}),
                                {},
                                Tensor(nullptr, DType::f64, {0, 5})});
  bed.device().synchronize();
  CHECK(bed.fetch(x.device) == x.values);
}
