#include "lib/ops/attention/relative_attention.hpp"

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

namespace {

struct RelativeCase {
  std::int64_t d_k, d_v;
  std::vector<std::int32_t> lengths;
  std::int64_t most;         // rows of a segment that the table of distances has room for
  std::int64_t n_more_rows;  // past the end of the segments
};

// One operation's tensors: q, k and v are columns of one tensor, as a projection leaves them.
struct RelativeData {
  Pair qkv, content, position, relative, out;
  test::RaggedPair segments;
  std::int64_t n_rows = 0;
};
constexpr std::int64_t kHeads = 2;

RelativeData make_data(Bed& bed, const RelativeCase& c) {
  RelativeData data;
  for (const std::int32_t length : c.lengths) data.n_rows += length;
  data.segments = bed.segments(c.lengths);
  data.qkv =
      bed.random({data.n_rows + c.n_more_rows, kHeads * (2 * c.d_k + c.d_v) + 8}, 0.6f, true);
  data.content = bed.random({kHeads, c.d_k}, 0.6f, false);
  data.position = bed.random({kHeads, c.d_k}, 0.6f, false);
  data.relative = bed.random({kHeads, 2 * c.most - 1, c.d_k}, 0.6f, true);
  data.out = bed.unset({data.n_rows + c.n_more_rows, kHeads * c.d_v}, true);
  return data;
}

template <class Of>
ops::RelativeAttention operation(const RelativeCase& c, const RelativeData& data,
                                 const tensor::Ragged& segments, const Of& of) {
  const auto part = [&](std::int64_t begin, std::int64_t width) {
    return tensor::split_heads(of(data.qkv).slice(1, begin, begin + kHeads * width), kHeads);
  };
  return {part(0, c.d_k),
          part(kHeads * c.d_k, c.d_k),
          part(2 * kHeads * c.d_k, c.d_v),
          of(data.content),
          of(data.position),
          of(data.relative),
          &segments,
          of(data.out)};
}

void run(Bed& bed, const RelativeCase& c, RelativeData& data) {
  ops::relative_attention(bed.reference(), operation(c, data, data.segments.host,
                                                     [](const Pair& x) { return x.host; }));
  ops::relative_attention(bed.device(), operation(c, data, data.segments.device,
                                                  [](const Pair& x) { return x.device; }));
}

}  // namespace

TEST_CASE("ops.relative_attention: segments of any length, heads of any size", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const RelativeCase c =
      GENERATE(RelativeCase{16, 24, {1, 2, 16, 70, 33}, 70, 0},  // a table that just fits
               RelativeCase{64, 192, {65, 31, 1, 130}, 150, 0},  // Enformer's heads
               RelativeCase{8, 8, {15, 17}, 40, 3},              // rows of no segment
               RelativeCase{40, 200, {1, 64}, 64, 0});           // more columns than a block sums
  RelativeData data = make_data(bed, c);
  run(bed, c, data);
  // Rows of no segment hold anything.
  const std::int64_t n = data.n_rows;
  data.out.device = data.out.device.slice(0, 0, n);
  data.out.values.resize(static_cast<std::size_t>(n * kHeads * c.d_v));
  CHECK(bed.difference(data.out) < (bed.is_cpu() ? 2e-5 : 2 * bed.operand_bound()));
}

TEST_CASE("ops.relative_attention: a segment has the same bytes alone and in a batch", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const RelativeCase both{16, 24, {37, 50}, 90, 0};
  RelativeData batch = make_data(bed, both);
  run(bed, both, batch);
  const std::vector<float> expected = bed.fetch(batch.out.device.slice(0, 37, 87));
  RelativeCase alone = both;
  alone.lengths = {50};
  RelativeData single = batch;
  single.segments = bed.segments({50});
  const auto tail = [&](const Pair& x) {
    return &x == &single.qkv || &x == &single.out ? x.device.slice(0, 37, 87) : x.device;
  };
  ops::relative_attention(bed.device(), operation(alone, single, single.segments.device, tail));
  CHECK(bed.fetch(single.out.device.slice(0, 37, 87)) == expected);
}

TEST_CASE("ops.relative_attention: the term of the distance decides", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const RelativeCase c{16, 24, {90}, 90, 0};
  RelativeData data = make_data(bed, c);
  // Keys of zeros: scores come from the distances alone, of which that of +5 is by far the
  // greatest.
  std::vector<float> qkv = data.qkv.values, relative(data.relative.values.size());
  const std::int64_t width = data.qkv.host.shape[1];
  for (std::int64_t i = 0; i < 90; ++i)
    for (std::int64_t e = 0; e < 2 * kHeads * 16; ++e)
      qkv[static_cast<std::size_t>(i * width + e)] = e < kHeads * 16 ? 1.0f : 0.0f;
  for (std::int64_t head = 0; head < kHeads; ++head)
    for (std::int64_t e = 0; e < 16; ++e)
      relative[static_cast<std::size_t>((head * 179 + 89 + 5) * 16 + e)] = 4.0f;
  data.qkv = bed.pair({90, width}, qkv, true);
  data.relative = bed.pair({kHeads, 179, 16}, relative, true);
  data.position = bed.pair({kHeads, 16}, std::vector<float>(kHeads * 16), false);
  run(bed, c, data);
  CHECK(bed.difference(data.out) < (bed.is_cpu() ? 2e-5 : 2 * bed.operand_bound()));
  // Row i holds the values of row i + 5.
  const std::vector<float> got = bed.fetch(data.out.device);
  for (std::int64_t i = 0; i < 85; ++i)
    for (std::int64_t e = 0; e < kHeads * 24; ++e)
      CHECK(std::fabs(got[static_cast<std::size_t>(i * kHeads * 24 + e)] -
                      qkv[static_cast<std::size_t>((i + 5) * width + 4 * 16 + e)]) < 0.02f);
}

// As ops.attention's.
TEST_CASE("ops.relative_attention: fp32 keeps its digits over many keys", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  if (bed.is_cpu() || bed.precision() != tensor::Precision::fp32) return;
  const RelativeCase c{16, 24, {400}, 400, 0};
  RelativeData data = make_data(bed, c);
  const std::int64_t width = data.qkv.host.shape[1];
  for (std::size_t i = 0; i < data.qkv.values.size(); ++i)
    if (static_cast<std::int64_t>(i) % width >= 2 * kHeads * c.d_k) data.qkv.values[i] += 1;
  data.qkv = bed.pair({data.n_rows, width}, data.qkv.values, true);
  run(bed, c, data);
  // A single error is mostly that of scores, which are rounded to fp32: 2.8e-6 at most on emulated
  // waves of 32 and 64. Sums cut off change the mean.
  CHECK(bed.difference(data.out) < 4e-6);
  CHECK(std::fabs(bed.bias(data.out)) < 3e-7);
}

TEST_CASE("ops.relative_attention: a GPU refuses heads that its kernels would cut", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  if (bed.is_cpu()) return;
  const RelativeCase c = GENERATE(RelativeCase{72, 24, {5}, 5, 0}, RelativeCase{65, 24, {5}, 5, 0});
  RelativeData data = make_data(bed, c);
  CHECK_THROWS(run(bed, c, data));
}
