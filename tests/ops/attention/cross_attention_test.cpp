#include "lib/ops/attention/cross_attention.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

namespace {

struct CrossData {
  Pair q, kv, out;
  test::RaggedPair queries;
  test::Indices starts, counts;
  std::int64_t n_heads, n_key_heads;
  bool causal = false;
};

void run_both(Bed& bed, const CrossData& data, bool with_counts) {
  const auto op = [&](const auto& of, const tensor::Tensor& starts, const tensor::Tensor& counts,
                      const tensor::Ragged& queries) -> ops::CrossAttention {
    const std::int64_t width = of(data.kv).shape[1] / 2;
    return {tensor::split_heads(of(data.q), data.n_heads),
            tensor::split_heads(of(data.kv).slice(1, 0, width), data.n_key_heads),
            tensor::split_heads(of(data.kv).slice(1, width, 2 * width), data.n_key_heads),
            0.3f,
            &queries,
            starts,
            with_counts ? counts : tensor::Tensor(),
            data.causal,
            of(data.out)};
  };
  ops::cross_attention(bed.reference(), op([](const Pair& x) { return x.host; }, data.starts.host,
                                           data.counts.host, data.queries.host));
  ops::cross_attention(bed.device(), op([](const Pair& x) { return x.device; }, data.starts.device,
                                        data.counts.device, data.queries.device));
}

}  // namespace

TEST_CASE("ops.cross_attention: keys of other rows, heads of any size", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t h = GENERATE(8, 16, 24, 32, 40, 64, 72, 128);
  CrossData data;
  data.n_heads = 4;
  data.n_key_heads = GENERATE(1, 2, 4);
  data.causal = GENERATE(false, true);
  data.queries = bed.segments({1, 3, 0, 2, 5});
  data.q = bed.random({12, data.n_heads * h}, 1.0f, true);  // the last row is of no segment
  data.kv = bed.random({180, 2 * data.n_key_heads * h}, 1.0f, true);
  data.starts = bed.indices({0, 1, 34, 40, 40, 179});  // the fourth segment has no key
  data.counts = bed.indices({0, 20, 6, 0, 129});
  data.out = bed.unset({12, data.n_heads * h}, true);
  const bool with_counts = GENERATE(false, true);
  run_both(bed, data, with_counts);
  data.out.device = data.out.device.slice(0, 0, 11);
  data.out.values.resize(static_cast<std::size_t>(11 * data.n_heads * h));
  // A rounding of a score, which is up to 15 or so, becomes the weight's relative error.
  CHECK(bed.difference(data.out) < (bed.is_cpu() ? 1e-5 : bed.operand_bound()));
}

TEST_CASE("ops.cross_attention: large scores, and rows past the keys that are never read",
          "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  CrossData data;
  data.n_heads = data.n_key_heads = 2;
  data.queries = bed.segments({2});
  data.q = bed.random({2, 64}, 6.0f, true);
  Pair kv = bed.random({70, 128}, 6.0f, true);
  for (std::size_t i = 40 * 128; i < kv.values.size(); ++i)
    kv.values[i] = std::numeric_limits<float>::quiet_NaN();
  data.kv = bed.pair({70, 128}, kv.values, true);
  data.starts = bed.indices({0, 70});
  data.counts = bed.indices({40});
  data.out = bed.unset({2, 64}, true);
  run_both(bed, data, true);
  CHECK(bed.difference(data.out) < (bed.is_cpu() ? 2e-5 : bed.operand_bound()));
}

TEST_CASE("ops.cross_attention: a score that is no number is seen in its row alone", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  constexpr std::int64_t kHead = 16, kQueries = 3;
  CrossData data;
  data.n_heads = data.n_key_heads = 1;
  data.queries = bed.segments({1, 1, 1});
  std::vector<float> q(kQueries * kHead, 0.25f);
  q[kHead] = std::numeric_limits<float>::quiet_NaN();  // of the second query
  data.q = bed.pair({kQueries, kHead}, q, true);
  data.kv = bed.random({6, 2 * kHead}, 1.0f, true);
  data.starts = bed.indices({0, 2, 6, 6});  // the third segment has no key
  data.counts = bed.indices({2, 4, 0});
  data.out = bed.unset({kQueries, kHead}, true);
  run_both(bed, data, true);
  const std::vector<float> got = bed.fetch(data.out.device);
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    const std::size_t row = i / kHead;
    CHECK(std::isnan(got[i]) == (row == 1));
    if (row == 2) CHECK(got[i] == 0);
  }
}

TEST_CASE("ops.cross_attention: a GPU refuses heads that its kernels would cut", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  if (bed.is_cpu()) return;
  const std::int64_t h = GENERATE(136, 129);
  CrossData data;
  data.n_heads = data.n_key_heads = 1;
  data.queries = bed.segments({2});
  data.q = bed.random({2, h}, 1.0f, true);
  data.kv = bed.random({3, 2 * h}, 1.0f, true);
  data.starts = bed.indices({0, 3});
  data.counts = bed.indices({3});
  data.out = bed.unset({2, h}, true);
  CHECK_THROWS(run_both(bed, data, true));
}
