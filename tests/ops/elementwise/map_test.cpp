#include "lib/ops/elementwise/map.hpp"

#include <limits>

#include "lib/core/error.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using ops::Map;
using ops::MapCode;
using tensor::Tensor;
using test::Bed;
using test::Pair;

namespace {

// form(of): the operation on the tensors of one context.
template <class Form>
void run_map(Bed& bed, const Form& form) {
  ops::map(bed.reference(), form([](const Pair& x) { return x.host; }));
  ops::map(bed.device(), form([](const Pair& x) { return x.device; }));
}

double map_bound(const Bed& bed, bool operand) { return operand ? 2 * bed.operand_bound() : 2e-6; }

// [R, d] of [d, R] and the like: two axes exchanged.
Tensor exchanged(Tensor x, std::size_t a, std::size_t b) {
  std::swap(x.shape[a], x.shape[b]);
  std::swap(x.stride[a], x.stride[b]);
  return x;
}

}  // namespace

TEST_CASE("ops.map: the usual expressions", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool operand = GENERATE(false, true);
  const std::int64_t d = GENERATE(1, 7, 64, 257), n = 19;
  const Pair x = bed.random({n, d}, 2, operand), y = bed.random({n, d}, 1, !operand),
             z = bed.random({n, d}, 1, operand), out = bed.unset({n, d}, operand);
  const int form = GENERATE(0, 1, 2, 3, 4, 5, 6);
  CAPTURE(operand, d, form);
  run_map(bed, [&](const auto& of) {
    switch (form) {
      case 0:
        return ops::map_copy(of(y), of(out));
      case 1:
        return ops::map_add(of(x), of(y), of(out));
      case 2:
        return ops::map_multiply(of(x), of(y), of(out));
      case 3:
        return ops::map_gate(of(x), of(y), of(out));
      case 4:
        return ops::map_gate_shift(of(x), of(y), of(z), of(out));
      case 5:
        return ops::map_glu(MapCode::gelu_tanh, of(x), of(y), of(out));
      default:
        return ops::map_scale_shift(of(x), 0.5f, 3.0f, of(out));
    }
  });
  CHECK(bed.difference(out) < map_bound(bed, operand));
}

TEST_CASE("ops.map: every function over its range", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const MapCode code = GENERATE(MapCode::sigmoid, MapCode::silu, MapCode::gelu_erf,
                                MapCode::gelu_sigmoid, MapCode::gelu_tanh, MapCode::relu,
                                MapCode::softplus, MapCode::tanh, MapCode::exp, MapCode::log);
  CAPTURE(static_cast<int>(code));
  std::vector<float> values;
  for (int i = -600; i <= 600; ++i)
    values.push_back(code == MapCode::log ? std::exp(static_cast<float>(i) / 8)
                                          : static_cast<float>(i) / 60);
  const auto n = static_cast<std::int64_t>(values.size());
  const Pair x = bed.pair({n}, values, false), out = bed.unset({n}, false);
  run_map(bed, [&](const auto& of) { return ops::map_function(code, of(x), of(out)); });
  CHECK(bed.difference(out) < 2e-6);
}

TEST_CASE("ops.map: small results keep their relative error", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const MapCode code =
      GENERATE(MapCode::sigmoid, MapCode::softplus, MapCode::tanh, MapCode::exp, MapCode::log);
  CAPTURE(static_cast<int>(code));
  std::vector<float> values;
  for (int i = 1; i <= 400; ++i) {
    const float small = std::exp(static_cast<float>(-i) / 16);  // 0.94 to 1e-11
    values.push_back(code == MapCode::tanh  ? small
                     : code == MapCode::log ? 1 + small
                                            : static_cast<float>(-i) / 5);
  }
  const Pair x = bed.pair({400}, values, false), out = bed.unset({400}, false);
  run_map(bed, [&](const auto& of) { return ops::map_function(code, of(x), of(out)); });
  const std::vector<float> got = bed.fetch(out.device);
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (out.values[i] == 0) continue;  // of numbers that 1 swallows
    const double apart = static_cast<double>(got[i]) - out.values[i];
    worst = test::worse_of(worst, std::fabs(apart / static_cast<double>(out.values[i])));
  }
  CHECK(worst < 2e-6);
}

TEST_CASE("ops.map: numbers at the ends of functions", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  const Pair x = bed.pair({8}, {nan, -infinity, -1000, -0.0f, 0, 88.5f, 1000, infinity}, false);
  const Pair out = bed.unset({8}, false);
  const auto of = [&](MapCode code) {
    ops::map(bed.device(), ops::map_function(code, x.device, out.device));
    return bed.fetch(out.device);
  };
  std::vector<float> got = of(MapCode::exp);
  CHECK((std::isnan(got[0]) && got[1] == 0 && got[2] == 0 && got[3] == 1 && got[4] == 1));
  CHECK((std::fabs(got[5] / 2.7231e38f - 1) < 1e-3f && got[6] == infinity && got[7] == infinity));
  got = of(MapCode::log);
  CHECK((std::isnan(got[0]) && std::isnan(got[1]) && std::isnan(got[2])));
  CHECK((got[3] == -infinity && got[4] == -infinity && got[7] == infinity));
  got = of(MapCode::tanh);
  CHECK((std::isnan(got[0]) && got[1] == -1 && got[2] == -1 && got[4] == 0 && got[7] == 1));
  got = of(MapCode::sigmoid);
  CHECK((std::isnan(got[0]) && got[1] < 1e-30f && got[4] == 0.5f && got[7] == 1));
  got = of(MapCode::relu);
  CHECK((std::isnan(got[0]) && got[1] == 0 && got[6] == 1000 && got[7] == infinity));
  const Pair y = bed.pair({8}, {3, nan, 5, 0, nan, 88.5f, infinity, nan}, false);
  const auto of_both = [&](MapCode code) {
    ops::map(bed.device(), ops::make_map({x.device, y.device}, {{code, 1}}, out.device));
    return bed.fetch(out.device);
  };
  for (const MapCode code : {MapCode::minimum, MapCode::maximum}) {
    got = of_both(code);
    for (const std::size_t i : {0, 1, 4, 7}) CHECK(std::isnan(got[i]));
    CHECK(got[2] == (code == MapCode::minimum ? -1000 : 5));
    CHECK(got[6] == (code == MapCode::minimum ? 1000 : infinity));
  }
}

TEST_CASE("ops.map: rows, columns and channels are repeated", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(1, 5, 300);
  const Pair x = bed.random({2, 3, 4, 5, d}, 1, true), out = bed.unset({2, 3, 4, 5, d}, false);
  const Pair column = bed.random({d}, 1, false), row = bed.random({2, 3, 4, 5, 1}, 1, false),
             channel = bed.random({3, 1, 1, d}, 1, true), one = bed.random({1}, 1, false);
  CAPTURE(d);
  SECTION("scale and shift") {
    run_map(bed, [&](const auto& of) {
      return ops::map_scale_shift(of(x), of(column), of(row), of(out));
    });
  }
  SECTION("four tensors of all kinds") {
    run_map(bed, [&](const auto& of) {
      return ops::make_map({of(x), of(channel), of(one), of(row)},
                           {{MapCode::multiply, 1}, {MapCode::add, 2}, {MapCode::multiply, 3}},
                           of(out));
    });
  }
  CHECK(bed.roundings(out) < 4);
}

TEST_CASE("ops.map: slices, exchanged axes and rows with zeros behind", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(3, 16, 270), given = d / 2 + 1, n = 23;
  CAPTURE(d);
  SECTION("the residual of fewer channels") {
    const Pair x = bed.random({n, d + 5}, 1, true), y = bed.random({n, given}, 1, false),
               out = bed.unset({n, d}, true);
    run_map(bed, [&](const auto& of) {
      return ops::map_add_fewer(of(x).slice(1, 5, d + 5), of(y), of(out));
    });
    CHECK(bed.difference(out) < 2 * bed.operand_bound());
  }
  SECTION("cut to fewer channels, in columns of a wider tensor that stay") {
    const Pair x = bed.random({n, d}, 1, true), y = bed.random({n, 2 * d}, 1, false),
               out = bed.unset({n, d + 2}, false);
    run_map(bed, [&](const auto& of) {
      return ops::map_add(of(x), of(y).slice(1, 0, d), of(out).slice(1, 1, d + 1));
    });
    CHECK(bed.difference(out) < 2e-6);
    CHECK(bed.fetch(out.device).front() == 7.0f);
    CHECK(bed.fetch(out.device).back() == 7.0f);
  }
  SECTION("a tensor and its transpose") {
    const Pair x = bed.random({7, 7, d}, 1, true), out = bed.unset({7, 7, d}, false);
    run_map(bed, [&](const auto& of) {
      return ops::make_map({of(x), exchanged(of(x), 0, 1)},
                           {{MapCode::add, 1}, {MapCode::multiply, Map::kNumber, 0, 0.5f}},
                           of(out));
    });
    CHECK(bed.difference(out) < 2e-6);
  }
  SECTION("halves of rows") {
    const Pair x = bed.random({n, 2 * d}, 1, true), out = bed.unset({n, d}, true);
    run_map(bed,
            [&](const auto& of) { return ops::map_glu_halves(MapCode::silu, of(x), of(out)); });
    CHECK(bed.difference(out) < 2 * bed.operand_bound());
  }
}

TEST_CASE("ops.map: in place, with numbers kept and chosen", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(5, 64);
  // AlphaGenome's tracks: u = softplus(x) scale; u > 10 ? (u + 10)^2 / 40 : u; then u^(1 / 0.75).
  const Pair x = bed.random({17, d}, 20, false), scale = bed.pair({1}, {1.5f}, false);
  run_map(bed, [&](const auto& of) {
    constexpr std::uint8_t kSmall = Map::kKept, kLarge = Map::kKept + 1;
    return ops::make_map({of(x), of(scale)},
                         {{MapCode::softplus},
                          {MapCode::multiply, 1},
                          {MapCode::keep, kSmall},
                          {MapCode::add, Map::kNumber, 0, 10},
                          {MapCode::multiply, Map::kCurrent},
                          {MapCode::multiply, Map::kNumber, 0, 1.0f / 40},
                          {MapCode::keep, kLarge},
                          {MapCode::load, kSmall},
                          {MapCode::greater, Map::kNumber, 0, 10},
                          {MapCode::select, kLarge, kSmall},
                          {MapCode::power, Map::kNumber, 0, 4.0f / 3}},
                         of(x));
  });
  CHECK(bed.difference(x) < 2e-5);  // the logarithm's rounding, times 12
}

TEST_CASE("ops.map: the other steps", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair x = bed.random({9, 40}, 1, false), y = bed.random({9, 40}, 1, true),
             out = bed.unset({9, 40}, false);
  const MapCode code = GENERATE(MapCode::subtract, MapCode::divide, MapCode::minimum,
                                MapCode::maximum, MapCode::greater);
  CAPTURE(static_cast<int>(code));
  run_map(bed, [&](const auto& of) { return ops::make_map({of(x), of(y)}, {{code, 1}}, of(out)); });
  CHECK(bed.difference(out) < 2e-6);
}

TEST_CASE("ops.map: nothing to do, and the same bytes alone as among others, by any threads",
          "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair x = bed.random({40, 21}, 2, true), all = bed.unset({40, 21}, false),
             one = bed.unset({3, 21}, false);
  ops::map(bed.device(), ops::map_glu(MapCode::gelu_erf, x.device, x.device, all.device));
  const Tensor part = x.device.slice(0, 30, 33);
  const Map op = ops::map_glu(MapCode::gelu_erf, part, part, one.device);
  if (bed.is_cpu()) {
    ops::map(*ops::make_cpu_context(1), op);  // where the bed has two threads
  } else {
    ops::map(bed.device(), op);
  }
  const std::vector<float> many = bed.fetch(all.device), few = bed.fetch(one.device);
  CHECK(std::equal(few.begin(), few.end(), many.begin() + 30 * 21));
  ops::map(bed.device(), ops::map_add(x.device.slice(0, 0, 0), x.device.slice(0, 0, 0),
                                      all.device.slice(0, 0, 0)));
  CHECK(bed.fetch(all.device) == many);
}

TEST_CASE("ops.map: what it cannot do is refused", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair x = bed.random({4, 6}, 1, false), y = bed.random({4, 5}, 1, false);
  const auto refuses = [&](const Map& op) { CHECK_THROWS_AS(ops::map(bed.device(), op), Error); };
  const Tensor& at = x.device;
  refuses(ops::map_add(at, y.device, at));                                   // another width
  refuses(ops::map_glu_halves(MapCode::silu, y.device, at.slice(1, 0, 2)));  // an odd width
  refuses(ops::map_add(at, at.slice(0, 0, 1), at));       // repeated, and overwritten
  refuses(ops::map_copy(exchanged(at, 0, 1), y.device));  // its last axis is not contiguous
  refuses(ops::make_map({at}, {{MapCode::add, 1}}, at));  // no input 1
  refuses(ops::make_map({at}, {{MapCode::add, Map::kKept}}, at));  // nothing kept
  refuses(ops::make_map({at, at, at, at, at}, {}, at));
  Map many = ops::map_copy(at, at);
  many.n_steps = Map::kMaxSteps + 1;
  refuses(many);
  Tensor integers = at;
  integers.dtype = tensor::DType::i32;
  refuses(ops::map_copy(integers, y.device));
  const Pair z = bed.random({4, 6}, 1, false);
  Tensor repeated = at;
  repeated.stride[0] = 0;
  refuses(ops::map_copy(z.device, repeated));  // written four times
  for (const auto type : {tensor::DType::f16, tensor::DType::bf16}) {
    Tensor half = x.host;
    half.dtype = type;
    for (const Map& op : {ops::map_copy(half, z.host), ops::map_copy(z.host, half),
                          ops::map_add(z.host, half, z.host)}) {
      CHECK_THROWS_AS(ops::map(bed.reference(), op), Error);
      if (bed.is_cpu()) refuses(op);
    }
  }
}
