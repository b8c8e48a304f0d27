#include "lib/models/esm2/ops/contacts.hpp"

#include "lib/ops/attention/attention.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

TEST_CASE("models.esm2: contacts of attention probabilities", "[models]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t h = bed.is_cpu() ? GENERATE(16, 24, 32, 40, 64, 128) : GENERATE(16);
  const std::int64_t n_heads = 3, d = n_heads * h, n = 62, n_pairs = 39 * 39 + 16 * 16;
  const test::RaggedPair segments = bed.segments({2, 41, 1, 18});
  const Pair qkv = bed.random({n, 3 * d}, 1.0f, true), out = bed.unset({n, d}, true);
  const Pair sums = bed.unset({n_heads, n}, false), weight = bed.random({n_heads}, 1.0f, false);
  const Pair scores = bed.pair({n_pairs}, std::vector<float>(n_pairs), false);
  const Pair row_sums = bed.pair({n_heads, n}, std::vector<float>(n_heads * n), false);
  std::vector<std::int64_t> begins{0, 0, 39 * 39, 39 * 39};
  const tensor::Tensor host_begins(begins.data(), tensor::DType::i64, {4});
  const tensor::Tensor device_begins(bed.device().allocate(32), tensor::DType::i64, {4});
  bed.device().copy_in(device_begins, begins.data());
  const auto run = [&](tensor::Context& context, const tensor::Ragged& where,
                       const tensor::Tensor& first, const auto& of) {
    const auto part = [&](std::int64_t i) { return test::heads_of(of(qkv), i, n_heads); };
    ops::attention(context, {part(0), part(1), part(2), 0.25f, {}, &where, of(out), of(sums)});
    models::esm2::accumulate_contacts(context, {part(0), part(1), 0.25f, of(sums), of(weight), 0,
                                                &where, first, of(scores), of(row_sums)});
    models::esm2::finish_contacts(context,
                                  {of(scores), of(row_sums), of(weight), 0.5f, &where, first});
  };
  run(bed.reference(), segments.host, host_begins, [](const Pair& x) { return x.host; });
  run(bed.device(), segments.device, device_begins, [](const Pair& x) { return x.device; });
  const double bound = bed.is_cpu()                                 ? 3e-6
                       : bed.precision() == tensor::Precision::bf16 ? 1e-3
                                                                    : 1e-4;
  CHECK(bed.difference(row_sums) < bound);
  CHECK(bed.difference(scores) < bound);
}
