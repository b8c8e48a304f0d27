#include "lib/ops/attention/qkv_rotary.hpp"

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

TEST_CASE("ops.qkv_rotary: queries and keys are rotated", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t h = GENERATE(16, 24, 32, 40, 64, 128), n_heads = 2, d = n_heads * h;
  const test::LinearPair weights = bed.linear(3 * d, 48);
  const test::RaggedPair segments = bed.segments({5, 62});
  const Pair x = bed.random({67, 48}, 1.0f, true), out = bed.unset({67, 3 * d}, true);
  const Pair cos_sin = bed.random({62, h}, 0.7f, false);
  ops::qkv_rotary(
      bed.reference(),
      {x.host, &weights.host, n_heads, {cos_sin.host}, segments.host.positions, out.host});
  ops::qkv_rotary(bed.device(), {x.device,
                                 &weights.device,
                                 n_heads,
                                 {cos_sin.device},
                                 segments.device.positions,
                                 out.device});
  if (bed.is_cpu()) {
    // A sum of 48 products is off by the root of 48 roundings at most, and two follow.
    CHECK(bed.roundings(out) < std::sqrt(48.0) + 2);
  } else {
    CHECK(bed.difference(out) < 2 * bed.operand_bound());
  }
}

TEST_CASE("ops.qkv_rotary: without rotation it is the product", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const test::LinearPair weights = bed.linear(96, 64);
  const Pair x = bed.random({67, 64}, 1.0f, true), out = bed.unset({67, 96}, true);
  ops::qkv_rotary(bed.reference(), {x.host, &weights.host, 2, {}, {}, out.host});
  ops::qkv_rotary(bed.device(), {x.device, &weights.device, 2, {}, {}, out.device});
  CHECK(bed.difference(out) < 2 * bed.operand_bound());
}
