#include "lib/ops/gemm/matmul.hpp"

#include <bit>

#include "lib/core/device.hpp"
#include "lib/core/error.hpp"
#include "lib/tensor/views.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using tensor::merge_axes;
using tensor::permuted;
using tensor::split_axis;
using tensor::transposed;
using test::Bed;
using test::DType;
using test::Pair;
using test::Tensor;

namespace {

// Bound of sums of k products of random numbers, relative to their root mean square.
double product_bound(const Bed& bed, std::int64_t k, bool to_operand) {
  if (to_operand && !bed.is_cpu() && bed.precision() != test::Precision::fp32)
    return bed.operand_bound();
  return bed.is_cpu() ? 3.2e-7 * std::sqrt(static_cast<double>(std::max<std::int64_t>(k, 40)))
                      : 1e-5;
}

struct Forms {
  Pair a, b, y;
};

// Runs on both contexts; views(tensor of a, of b, of y) gives the operation.
template <class Views>
void multiply_both(Bed& bed, const Forms& forms, const Views& views) {
  ops::matmul(bed.reference(), views(forms.a.host, forms.b.host, forms.y.host));
  ops::matmul(bed.device(), views(forms.a.device, forms.b.device, forms.y.device));
}

}  // namespace

TEST_CASE("ops.matmul: sizes around tiles, every transposition", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool turns_a = GENERATE(false, true), turns_b = GENERATE(false, true);
  struct Size {
    std::int64_t m, n, k;
  };
  // Emulated kernels take long: fewer sizes on GPUs, all kinds of each.
  const std::vector<Size> all{{1, 1, 1},    {2, 3, 5},     {7, 15, 16},  {16, 17, 31},
                              {31, 33, 63}, {33, 63, 65},  {63, 2, 127}, {65, 127, 3},
                              {127, 65, 7}, {5, 128, 128}, {64, 64, 64}, {129, 130, 96}};
  const Size size = GENERATE_COPY(from_range(all));
  const bool to_operand = size.m % 2 == 0;
  CAPTURE(size.m, size.n, size.k, turns_a, turns_b);
  Forms forms;
  forms.a = turns_a ? bed.random({size.k, size.m}, 1, true) : bed.random({size.m, size.k}, 1, true);
  forms.b = turns_b ? bed.random({size.n, size.k}, 1, true) : bed.random({size.k, size.n}, 1, true);
  forms.y = bed.unset({size.m, size.n}, to_operand);
  multiply_both(bed, forms, [&](const Tensor& a, const Tensor& b, const Tensor& y) -> ops::Matmul {
    return {turns_a ? transposed(a) : a, turns_b ? transposed(b) : b, y, 0.25f};
  });
  CHECK(bed.difference(forms.y) < product_bound(bed, size.k, to_operand));
}

TEST_CASE("ops.matmul: no rows, columns or numbers to sum", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair none = bed.unset({15}, true), x = bed.random({15}, 1, true);
  const auto shaped = [](const Pair& pair, std::int64_t m, std::int64_t n) {
    return Tensor(pair.device.data, pair.device.dtype, {m, n});
  };
  const Pair zeros = bed.unset({3, 5}, false);
  ops::matmul(bed.device(), {shaped(none, 3, 0), shaped(none, 0, 5), zeros.device});
  CHECK(bed.fetch(zeros.device) == std::vector<float>(15));
  const Pair untouched = bed.unset({3, 5}, false);
  ops::matmul(bed.device(), {shaped(none, 0, 5), shaped(x, 5, 3),
                             untouched.device.slice(0, 0, 0).slice(1, 0, 3)});
  ops::matmul(bed.device(), {shaped(x, 3, 5), shaped(none, 5, 0), untouched.device.slice(1, 0, 0)});
  CHECK(bed.fetch(untouched.device) == untouched.values);
}

TEST_CASE("ops.matmul: slices of wider tensors, three batch axes, some repeated", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t repeats = GENERATE(0, 1, 2, 3);  // of a's first and b's second batch axis
  const std::int64_t of_a = repeats % 2 == 0 ? 2 : 1, of_b = repeats < 2 ? 3 : 1;
  const std::int64_t pad = GENERATE(0, 1, 8);  // with 8, copies of 16 bytes stay aligned
  Forms forms{bed.random({of_a, 3, 2, 18, 24 + pad}, 1, true),
              bed.random({2, of_b, 2, 40, 24 + pad}, 1, true),
              bed.unset({2, 3, 2, 18, 40 + pad}, false)};
  multiply_both(bed, forms, [&](const Tensor& a, const Tensor& b, const Tensor& y) -> ops::Matmul {
    return {a.slice(4, pad, 24 + pad), transposed(b.slice(4, 0, 24)), y.slice(4, pad, 40 + pad)};
  });
  CHECK(bed.difference(forms.y) < product_bound(bed, 24, false));
}

TEST_CASE("ops.matmul: triangles of pairs, channels first and last", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool last = GENERATE(false, true), result_last = GENERATE(false, true);
  const bool incoming = GENERATE(false, true);
  const std::int64_t n = GENERATE(17, 40), c = GENERATE(3, 8, 24);
  const auto make = [&] {
    return last ? bed.random({n, n, c}, 1, true) : bed.random({c, n, n}, 1, true);
  };
  const Forms forms{make(), make(),
                    result_last ? bed.unset({n, n, c}, true) : bed.unset({c, n, n}, true)};
  multiply_both(bed, forms, [&](Tensor a, Tensor b, Tensor y) -> ops::Matmul {
    if (last) {
      a = permuted(a, {2, 0, 1});
      b = permuted(b, {2, 0, 1});
    }
    if (result_last) y = permuted(y, {2, 0, 1});
    return incoming ? ops::Matmul{transposed(a), b, y} : ops::Matmul{a, transposed(b), y};
  });
  CHECK(bed.difference(forms.y) < product_bound(bed, n, true));
  // One number by the formula.
  double sum = 0;
  const auto at = [&](bool channels_last, std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(channels_last ? (i * n + j) * c + 2 : (2 * n + i) * n + j);
  };
  for (std::int64_t k = 0; k < n; ++k)
    sum +=
        incoming
            ? static_cast<double>(forms.a.values[at(last, k, 4)]) * forms.b.values[at(last, k, 9)]
            : static_cast<double>(forms.a.values[at(last, 4, k)]) * forms.b.values[at(last, 9, k)];
  CHECK(std::fabs(forms.y.values[at(result_last, 4, 9)] - sum) < 1e-5);
}

TEST_CASE("ops.matmul: outer products of sequences", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t s = GENERATE(1, 12), n = 5, c = GENERATE(3, 8);
  const Forms forms{bed.random({s, n, c}, 1, true), bed.random({s, n, c}, 1, true),
                    bed.unset({n * c, n * c}, false)};
  multiply_both(bed, forms, [&](const Tensor& a, const Tensor& b, const Tensor& y) -> ops::Matmul {
    return {transposed(merge_axes(a, 1)), merge_axes(b, 1), y};
  });
  CHECK(bed.difference(forms.y) < product_bound(bed, s, false));
  const Tensor o = permuted(split_axis(split_axis(forms.y.host, 1, c), 0, c), {0, 2, 1, 3});
  double sum = 0;  // o[3, 4, 1, 2]
  for (std::int64_t k = 0; k < s; ++k)
    sum += static_cast<double>(forms.a.values[static_cast<std::size_t>((k * n + 3) * c + 1)]) *
           forms.b.values[static_cast<std::size_t>((k * n + 4) * c + 2)];
  const float got =
      o.as<float>()[3 * o.stride[0] + 4 * o.stride[1] + o.stride[2] + 2 * o.stride[3]];
  CHECK(std::fabs(got - sum) < 1e-5);
}

TEST_CASE("ops.matmul: fp32 numbers of any size", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  if (!bed.is_cpu() && bed.precision() != test::Precision::fp32) return;
  const float size = GENERATE(1e-16f, 1e-6f, 1e6f, 1e15f);
  const bool by_rows = GENERATE(false, true);
  const Forms forms{by_rows ? bed.random({70, 40}, size, false) : bed.random({40, 70}, size, false),
                    bed.random({70, 40}, size, false), bed.unset({40, 40}, false)};
  multiply_both(bed, forms, [&](const Tensor& a, const Tensor& b, const Tensor& y) -> ops::Matmul {
    return {by_rows ? transposed(a) : a, b, y};
  });
  CHECK(bed.difference(forms.y) < product_bound(bed, 70, false));
}

TEST_CASE("ops.matmul: bytes do not depend on threads or on the batch", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair a = bed.random({3, 37, 150}, 1, true), b = bed.random({3, 150, 70}, 1, true);
  const Pair all = bed.unset({3, 37, 70}, false), one = bed.unset({3, 37, 70}, false);
  ops::matmul(bed.device(), {a.device, b.device, all.device});
  const auto single = ops::make_cpu_context(1);
  for (std::int64_t i = 0; i < 3; ++i)
    ops::matmul(
        bed.is_cpu() ? *single : bed.device(),
        {a.device.slice(0, i, i + 1), b.device.slice(0, i, i + 1), one.device.slice(0, i, i + 1)});
  if (bed.is_cpu()) single->synchronize();
  CHECK(bed.fetch(all.device) == bed.fetch(one.device));
}

// FNV-1a of a result's bytes.
TEST_CASE("ops.matmul: emulated waves of either width give the same bytes", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  std::string why;
  if (bed.is_cpu() || list_devices(&why).front().architecture != "emulated") return;
  if (std::getenv("BIOGPU_EMULATED_CUT") != nullptr) return;  // other sums, on purpose
  const auto numbers = [](std::size_t n, std::uint32_t by) {
    std::vector<float> values(n);
    for (std::size_t i = 0; i < n; ++i)
      values[i] = static_cast<float>(i * by % 1021) / 511.0f - 1.0f;
    return values;
  };
  const Pair a = bed.pair({70, 150}, numbers(70 * 150, 613), true),
             b = bed.pair({150, 66}, numbers(150 * 66, 397), true), y = bed.unset({70, 66}, false);
  ops::matmul(bed.device(), {a.device, b.device, y.device});
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const float value : bed.fetch(y.device)) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int byte = 0; byte < 4; ++byte)
      hash = (hash ^ (bits >> 8 * byte & 0xffu)) * 0x100000001b3u;
  }
  const std::uint64_t right = bed.precision() == test::Precision::fp32   ? 0xd27b8c5ecfe1f0cbu
                              : bed.precision() == test::Precision::fp16 ? 0xd0f2c858c84f1b21u
                                                                         : 0xabf029041dd09e8eu;
  CHECK(hash == right);
}

TEST_CASE("ops.matmul: 16-bit numbers of the host", "[ops]") {
  const DType dtype = GENERATE(DType::f16, DType::bf16);
  Bed bed(test::subjects().front());
  if (!bed.is_cpu()) return;
  std::vector<std::uint16_t> a(6), b(6), y(4), right(4);
  for (std::size_t i = 0; i < 6; ++i) {
    const float x = static_cast<float>(i) - 2.25f;
    a[i] = dtype == DType::f16 ? tensor::to_f16(x) : tensor::to_bf16(x);
    b[i] = dtype == DType::f16 ? tensor::to_f16(2 * x) : tensor::to_bf16(2 * x);
  }
  const Tensor of_a(a.data(), dtype, {2, 3}), of_b(b.data(), dtype, {2, 3});
  ops::matmul(bed.device(), {of_a, transposed(of_b), Tensor(y.data(), dtype, {2, 2})});
  ops::matmul(bed.reference(), {of_a, transposed(of_b), Tensor(right.data(), dtype, {2, 2})});
  CHECK(y == right);
}

TEST_CASE("ops.matmul: refuses what does not fit", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair a = bed.unset({3, 4}, false), b = bed.unset({4, 5}, false),
             y = bed.unset({3, 5}, false);
  const auto refused = [&](const Tensor& left, const Tensor& right, const Tensor& to) {
    CHECK_THROWS_AS(ops::matmul(bed.device(), {left, right, to}), Error);
  };
  refused(a.device, a.device, y.device);
  refused(a.device, b.device, transposed(y.device));
  const Pair square = bed.unset({4, 4}, false);
  refused(square.device, b.device.slice(1, 0, 4), square.device);
  refused(a.device, tensor::repeated(b.device, 0), y.device);
  refused(tensor::repeated(a.device, 0, 2), tensor::repeated(b.device, 0, 3),
          tensor::repeated(y.device, 0, 6));
  refused(tensor::repeated(a.device, 0, 2), tensor::repeated(b.device, 0, 2),
          tensor::repeated(y.device, 0, 2));
  const test::Indices integers = bed.indices(std::vector<std::int32_t>(15));
  refused(a.device, b.device, Tensor(integers.device.data, DType::i32, {3, 5}));
}
