#include "lib/ops/gather/permute.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "lib/core/error.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/tensor/views.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::DType;
using test::Pair;
using test::Tensor;

namespace {

// Numbers of a type in the memory of the context under test.
template <class T>
struct Numbers {
  std::vector<T> values;
  Tensor device;
  Numbers(Bed& bed, DType dtype, std::initializer_list<std::int64_t> shape)
      : device(nullptr, dtype, shape) {
    values.resize(static_cast<std::size_t>(device.size()));
    std::iota(values.begin(), values.end(), T{3});
    device.data = bed.device().allocate(device.bytes());
    bed.device().copy_in(device, values.data());
  }
};

// The device's memory as numbers of any type, which copy_out() does not give: through f32, whose
// bits it keeps.
template <class T>
std::vector<T> bytes_of(Bed& bed, const Tensor& x) {
  std::vector<T> got(static_cast<std::size_t>(x.size()));
  std::vector<float> words((x.bytes() + 3) / 4);
  const Tensor as_words(x.data, DType::f32, {1, static_cast<std::int64_t>(words.size())});
  bed.device().copy_out(words.data(), as_words);
  bed.device().synchronize();
  std::copy_n(reinterpret_cast<const char*>(words.data()), x.bytes(),
              reinterpret_cast<char*>(got.data()));
  return got;
}

// out[k][j][i] = x[i][j][k] with the type's own copy.
template <class T>
void reverses_axes(Bed& bed, DType dtype) {
  const Numbers<T> x(bed, dtype, {5, 4, 67}), out(bed, dtype, {67, 4, 5});
  ops::permute(bed.device(), {tensor::permuted(x.device, {2, 1, 0}), out.device});
  const std::vector<T> got = bytes_of<T>(bed, out.device);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t k = 0; k < 67; ++k)
        if (got[(k * 4 + j) * 5 + i] != x.values[(i * 4 + j) * 67 + k]) ++wrong;
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("ops.permute: every order of five axes, to any type", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool from_operand = GENERATE(false, true), to_operand = GENERATE(false, true);
  const Pair source = bed.random({3, 2, 7, 1, 9}, 2.0f, true);
  const Pair x = bed.pair({3, 2, 7, 1, 9}, source.values, from_operand);
  std::array<int, 5> order{0, 1, 2, 3, 4};
  do {
    const auto& o = order;
    CAPTURE(o);
    const auto view = [&](const Tensor& tensor) {
      return tensor::permuted(tensor, {o[0], o[1], o[2], o[3], o[4]});
    };
    const auto& s = view(x.host).shape;
    const Pair out = bed.unset({s[0], s[1], s[2], s[3], s[4]}, to_operand);
    ops::permute(bed.reference(), {view(x.host), out.host});
    ops::permute(bed.device(), {view(x.device), out.device});
    CHECK(bed.fetch(out.device) == out.values);
    bed.device().release(out.device.data);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("ops.permute: sizes around a square, in slices of wider tensors", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t m = GENERATE(0, 1, 16, 63, 65, 127), n = GENERATE(1, 17, 64, 129);
  const Pair x = bed.random({m, n + 3}, 1, true), out = bed.unset({n, m + 5}, true);
  const auto run = [&](test::Context& context, const Tensor& from, const Tensor& to) {
    ops::permute(context, {tensor::transposed(from.slice(1, 2, n + 2)), to.slice(1, 4, m + 4)});
  };
  run(bed.reference(), x.host, out.host);
  run(bed.device(), x.device, out.device);
  CHECK(bed.fetch(out.device) == out.values);  // what is not in the slice is still there
}

TEST_CASE("ops.permute: three tensors as one along each axis", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const int axis = GENERATE(0, 1, 2);
  const Pair x = bed.random({4, 6, 10}, 1, false), y = bed.random({6, 4, 10}, 1, true),
             z = bed.random({10, 6, 4}, 1, false);
  // All as [4, 6, 10], which are joined along the axis into operands.
  const auto joined = [&](const auto& of) {
    return std::array<Tensor, 3>{of(x), tensor::permuted(of(y), {1, 0, 2}),
                                 tensor::permuted(of(z), {2, 1, 0})};
  };
  std::array<std::int64_t, 3> shape{4, 6, 10};
  const std::int64_t n = shape[static_cast<std::size_t>(axis)];
  shape[static_cast<std::size_t>(axis)] = 3 * n;
  const Pair out = bed.unset({shape[0], shape[1], shape[2]}, true);
  const auto run = [&](test::Context& context, const std::array<Tensor, 3>& parts,
                       const Tensor& to) {
    for (std::size_t i = 0; i < 3; ++i) {
      const auto begin = static_cast<std::int64_t>(i) * n;
      ops::permute(context, {parts[i], to.slice(axis, begin, begin + n)});
    }
  };
  run(bed.reference(), joined([](const Pair& pair) { return pair.host; }), out.host);
  run(bed.device(), joined([](const Pair& pair) { return pair.device; }), out.device);
  CHECK(bed.difference(out) < bed.operand_bound());
  // Element [3, 5, 9] of the last part, from its own tensor.
  CHECK(out.values.back() == z.values[(9 * 6 + 5) * 4 + 3]);
}

TEST_CASE("ops.permute: products write their columns of a joined tensor", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const test::LinearPair first = bed.linear(24, 16), second = bed.linear(8, 16);
  const Pair x = bed.random({19, 16}, 1, true), out = bed.unset({19, 40}, false);
  const auto run = [&](test::Context& context, const auto& of) {
    ops::gemm(context, {of(x), &of(first), ops::Activation::none, {}, of(out).slice(1, 0, 24)});
    ops::permute(context, {of(x).slice(1, 0, 8), of(out).slice(1, 24, 32)});
    ops::gemm(context, {of(x), &of(second), ops::Activation::none, {}, of(out).slice(1, 32, 40)});
  };
  run(
      bed.reference(), [](const auto& both) -> const auto& { return both.host; });
  run(
      bed.device(), [](const auto& both) -> const auto& { return both.device; });
  CHECK(bed.difference(out) < 1e-5);
}

TEST_CASE("ops.permute: a row that is repeated", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair x = bed.random({33}, 1, true), out = bed.unset({5, 33}, true);
  ops::permute(bed.device(), {tensor::repeated(x.device, 0, 5), out.device});
  const std::vector<float> got = bed.fetch(out.device);
  for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == x.values[i % 33]);
}

TEST_CASE("ops.permute: integers and bytes", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  reverses_axes<std::int32_t>(bed, DType::i32);
  reverses_axes<std::int64_t>(bed, DType::i64);
  reverses_axes<std::uint8_t>(bed, DType::u8);
  reverses_axes<double>(bed, DType::f64);
}

TEST_CASE("ops.permute: numbers that no other type holds are copied as they are", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const float infinity = std::numeric_limits<float>::infinity();
  const Pair x = bed.pair({2, 2}, {infinity, -infinity, 0.0f, -0.0f}, true),
             out = bed.unset({2, 2}, true);
  ops::permute(bed.device(), {tensor::transposed(x.device), out.device});
  const std::vector<float> was = bed.fetch(x.device), got = bed.fetch(out.device);
  CHECK(got == std::vector<float>{was[0], 0.0f, was[1], -0.0f});
  CHECK(std::signbit(got[3]));
}

TEST_CASE("ops.permute: 16-bit numbers of the host", "[ops]") {
  const auto context = ops::make_cpu_context(1);
  const std::vector<float> x{1.0f, -2.5f, 1e-7f, 65504.0f, 0.1f, 3.0f};
  for (const DType dtype : {DType::f16, DType::bf16}) {
    std::vector<std::uint16_t> half(6), other(6);
    std::vector<float> back(6), right(6);
    const Tensor narrow(half.data(), dtype, {3, 2}), wide(back.data(), DType::f32, {3, 2});
    const Tensor from(const_cast<float*>(x.data()), DType::f32, {2, 3});
    ops::permute(*context, {tensor::transposed(from), narrow});
    ops::permute(*context, {narrow, wide});
    for (std::size_t i = 0; i < 6; ++i) {
      const float value = x[i % 2 * 3 + i / 2];
      right[i] = dtype == DType::f16 ? tensor::from_f16(tensor::to_f16(value))
                                     : tensor::from_bf16(tensor::to_bf16(value));
    }
    CHECK(back == right);
  }
}

TEST_CASE("ops.permute: refuses other shapes, types and numbers that are written twice", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair x = bed.unset({3, 4}, false), out = bed.unset({4, 3}, false);
  const test::Indices indices = bed.indices({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Tensor integers(indices.device.data, DType::i32, {3, 4});
  CHECK_THROWS_AS(ops::permute(bed.device(), {x.device, out.device}), Error);
  CHECK_THROWS_AS(ops::permute(bed.device(), {integers, x.device}), Error);
  const Tensor row = out.device.slice(0, 0, 1);
  const Tensor same(row.data, DType::f32, {4});
  CHECK_THROWS_AS(ops::permute(bed.device(), {x.device, tensor::repeated(same, 0, 3)}), Error);
}
