#include "lib/ops/normalisation/softmax.hpp"

#include <limits>

#include "lib/core/error.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using ops::Softmax;
using tensor::DType;
using tensor::Tensor;
using test::Bed;
using test::Pair;

namespace {

constexpr float kSoftmaxInfinity = std::numeric_limits<float>::infinity();

// Bytes of both.
struct Bytes {
  std::vector<std::uint8_t> values;
  Tensor host, device;
};

Bytes make_bytes(Bed& bed, std::initializer_list<std::int64_t> shape,
                 std::vector<std::uint8_t> values) {
  Bytes made;
  made.values = std::move(values);
  made.host = Tensor(made.values.data(), DType::u8, shape);
  made.device = made.host;
  made.device.data = bed.device().allocate(std::max<std::size_t>(1, made.host.bytes()));
  bed.device().copy_in(made.device, made.values.data());
  return made;
}

template <class Run>
void run_softmax(Bed& bed, const Run& run) {
  ops::softmax(bed.reference(), run([](const auto& x) { return x.host; }));
  ops::softmax(bed.device(), run([](const auto& x) { return x.device; }));
}

double softmax_bound(const Bed& bed, bool operand) { return operand ? bed.operand_bound() : 5e-6; }

}  // namespace

TEST_CASE("ops.softmax: lines along each axis, and their logarithms", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const int axis = GENERATE(0, 1, 2, 3, 4);
  const bool log = GENERATE(false, true), operand = GENERATE(false, true);
  CAPTURE(axis, log, operand);
  const Pair x = bed.random({3, 4, 5, 2, 7}, 3, operand), out = bed.unset({3, 4, 5, 2, 7}, operand);
  run_softmax(bed, [&](const auto& of) {
    Softmax op;
    op.x = of(x);
    op.axis = axis;
    op.scale = 0.7f;
    op.log = log;
    op.out = of(out);
    return op;
  });
  CHECK(bed.difference(out) < softmax_bound(bed, operand));
}

TEST_CASE("ops.softmax: lines of any length, in place in a slice", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t n = GENERATE(1, 2, 31, 32, 33, 64, 65, 300), n_lines = GENERATE(1, 37);
  const bool log = GENERATE(false, true);
  CAPTURE(n, n_lines, log);
  const Pair x = bed.random({n_lines, n + 3}, 5, false);
  run_softmax(bed, [&](const auto& of) {
    Softmax op;
    op.x = op.out = of(x).slice(1, 2, n + 2);
    op.axis = 1;
    op.log = log;
    return op;
  });
  CHECK(bed.difference(x) < 5e-6);
  double sum = 0;
  const std::vector<float> got = bed.fetch(x.device);
  for (std::size_t i = 2; i < 2 + static_cast<std::size_t>(n); ++i)
    sum += log ? std::exp(static_cast<double>(got[i])) : static_cast<double>(got[i]);
  CHECK(std::fabs(sum - 1) < 1e-5);
}

TEST_CASE("ops.softmax: masks of bytes and of numbers, broadcast", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const int axis = GENERATE(0, 1, 2);
  CAPTURE(axis);
  const Pair x = bed.random({6, 8, 9}, 2, false), out = bed.unset({6, 8, 9}, false);
  std::vector<std::uint8_t> keep(54);
  for (std::size_t i = 0; i < keep.size(); ++i) keep[i] = i % 5 < 3 ? 1 : 0;
  const Bytes bytes = make_bytes(bed, {6, 1, 9}, keep);
  const Pair numbers = bed.random({8, 9}, 2, false);
  SECTION("bytes") {
    const float masked = GENERATE(-1e9f, -kSoftmaxInfinity);
    run_softmax(bed, [&](const auto& of) {
      Softmax op;
      op.x = of(x);
      op.axis = axis;
      op.mask = of(bytes);
      op.masked = masked;
      op.out = of(out);
      return op;
    });
    CHECK(bed.difference(out) < 5e-6);
    const std::vector<float> got = bed.fetch(out.device);
    if (axis != 1) CHECK(got[3] == 0);  // masked, and not all of its line
  }
  SECTION("numbers") {
    run_softmax(bed, [&](const auto& of) {
      Softmax op;
      op.x = of(x);
      op.axis = axis;
      op.mask = of(numbers);
      op.scale = 0.25f;
      op.out = of(out);
      return op;
    });
    CHECK(bed.difference(out) < 5e-6);
  }
}

TEST_CASE("ops.softmax: lines of which all is masked, and NaN", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Pair x = bed.pair({3, 4}, {5, -300, 2, 1, 5, -300, 2, 1, 1, nan, 2, 3}, false);
  const Bytes mask = make_bytes(bed, {3, 1}, {0, 1, 1});
  const Pair out = bed.unset({3, 4}, false);
  const auto run = [&](float masked, bool log) {
    Softmax op;
    op.x = x.device;
    op.axis = 1;
    op.mask = mask.device;
    op.masked = masked;
    op.log = log;
    op.out = out.device;
    ops::softmax(bed.device(), op);
    return bed.fetch(out.device);
  };
  std::vector<float> got = run(-1e9f, false);
  for (std::size_t i = 0; i < 4; ++i) CHECK(got[i] == 0.25f);
  CHECK((got[5] == 0 && std::fabs(got[4] - 0.9362f) < 1e-3f));
  for (std::size_t i = 8; i < 12; ++i) CHECK(std::isnan(got[i]));
  got = run(-kSoftmaxInfinity, false);
  for (std::size_t i = 0; i < 4; ++i) CHECK(got[i] == 0);
  CHECK(std::fabs(got[4] - 0.9362f) < 1e-3f);
  got = run(-kSoftmaxInfinity, true);
  for (std::size_t i = 0; i < 4; ++i) CHECK(got[i] == -kSoftmaxInfinity);
  CHECK(std::fabs(got[5] + 305.066f) < 1e-2f);
}

TEST_CASE("ops.softmax: the bytes of a line do not depend on the others or on threads", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const int axis = GENERATE(0, 1);
  const std::int64_t n = 45;
  const Pair x = bed.random({n, n}, 3, true), all = bed.unset({n, n}, false);
  const Pair some = bed.unset({n, n}, false);
  Softmax op;
  op.x = x.device;
  op.axis = axis;
  op.out = all.device;
  ops::softmax(bed.device(), op);
  op.x = op.x.slice(1 - axis, 20, 23);
  op.out = some.device.slice(1 - axis, 20, 23);
  if (bed.is_cpu()) {
    ops::softmax(*ops::make_cpu_context(1), op);
  } else {
    ops::softmax(bed.device(), op);
  }
  const std::vector<float> right = bed.fetch(all.device), got = bed.fetch(some.device);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 20; j < 23; ++j) {
      const auto at = static_cast<std::size_t>(axis == 0 ? i * n + j : j * n + i);
      CHECK(got[at] == right[at]);
    }
}

TEST_CASE("ops.softmax: no lines, and what is refused", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair x = bed.random({4, 6}, 1, false);
  Softmax op;
  op.x = op.out = x.device.slice(0, 0, 0);
  ops::softmax(bed.device(), op);
  op.x = op.out = x.device.slice(1, 2, 2);
  ops::softmax(bed.device(), op);
  op.x = op.out = x.device;
  op.axis = GENERATE(-1, 2);
  CHECK_THROWS_AS(ops::softmax(bed.device(), op), Error);
  op.axis = 1;
  op.mask = bed.random({5}, 1, false).device;
  CHECK_THROWS_AS(ops::softmax(bed.device(), op), Error);
  op.mask = {};
  const Pair y = bed.unset({4, 6}, false);
  const auto refused = [&](test::Context& context, const Tensor& from, const Tensor& to) {
    op.x = from;
    op.out = to;
    CHECK_THROWS_AS(ops::softmax(context, op), Error);
  };
  const auto as = [](Tensor z, tensor::DType type) {
    z.dtype = type;
    return z;
  };
  refused(bed.device(), as(x.device, tensor::DType::i32), y.device);
  refused(bed.device(), x.device, as(y.device, tensor::DType::u8));
  Tensor repeated = y.device;
  repeated.stride[1] = 0;
  refused(bed.device(), x.device, repeated);
  for (const auto type : {tensor::DType::f16, tensor::DType::bf16}) {
    refused(bed.reference(), as(x.host, type), y.host);
    refused(bed.reference(), x.host, as(y.host, type));
    if (bed.is_cpu()) refused(bed.device(), as(x.device, type), y.device);
    if (bed.is_cpu()) refused(bed.device(), x.device, as(y.device, type));
  }
}
