#include "lib/ops/attention/rotate_heads.hpp"

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

TEST_CASE("ops.rotate_heads: a part of each head, in rows of a wider tensor", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t h = GENERATE(16, 24, 32, 192), n_heads = 3;
  const std::int64_t r = GENERATE_COPY(8, 16, h);
  if (r > h) return;
  const test::RaggedPair segments = bed.segments({5, 62});
  const std::int64_t width = n_heads * h + 40;  // more behind the heads, which stays
  const Pair qkv = bed.random({67, width}, 1.0f, true);
  const Pair cos_sin = bed.random({62, r}, 0.7f, false);
  const std::vector<float> before = bed.fetch(qkv.device);
  const auto heads = [&](const tensor::Tensor& x) {
    return tensor::split_heads(x.slice(1, 0, n_heads * h), n_heads);
  };
  ops::rotate_heads(bed.reference(), {heads(qkv.host), {cos_sin.host}, segments.host.positions});
  ops::rotate_heads(bed.device(), {heads(qkv.device), {cos_sin.device}, segments.device.positions});
  if (bed.is_cpu())
    CHECK(bed.roundings(qkv) < 2);
  else
    CHECK(bed.difference(qkv) < bed.operand_bound());
  const std::vector<float> after = bed.fetch(qkv.device);
  std::size_t n_changed = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const auto column = static_cast<std::int64_t>(i) % width;
    const bool turned = column < n_heads * h && column % h < r;
    if (!turned) CHECK(after[i] == before[i]);
    n_changed += after[i] != before[i];
  }
  CHECK(n_changed > static_cast<std::size_t>(67 * n_heads * r) * 9 / 10);
}

TEST_CASE("ops.rotate_heads: no rows", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair x = bed.pair({0, 32}, {}, true), cos_sin = bed.random({1, 16}, 1, false);
  ops::rotate_heads(bed.device(),
                    {tensor::split_heads(x.device, 2), {cos_sin.device}, bed.indices({}).device});
  bed.device().synchronize();
}
