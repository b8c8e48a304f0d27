#include "lib/ops/reduction/argmax.hpp"

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

namespace {

// Bytes of both.
struct Rules {
  std::vector<std::uint8_t> values;
  tensor::Tensor host, device;
};

Rules make_rules(Bed& bed, std::int64_t n_rules, std::int64_t n, std::vector<std::uint8_t> values) {
  Rules rules;
  rules.values = std::move(values);
  rules.host = tensor::Tensor(rules.values.data(), tensor::DType::u8, {n_rules, n});
  rules.device = rules.host;
  rules.device.data = bed.device().allocate(rules.host.bytes());
  bed.device().copy_in(rules.device, rules.values.data());
  return rules;
}

std::vector<std::int32_t> fetch_words(Bed& bed, const tensor::Tensor& words) {
  std::vector<std::int32_t> got(static_cast<std::size_t>(words.size()));
  bed.device().copy_out(got.data(), words);
  bed.device().synchronize();
  return got;
}

}  // namespace

TEST_CASE("ops.argmax: the first of the greatest, among all and among allowed columns", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t n = GENERATE(1, 2, 31, 64, 65, 127, 128, 129, 300), n_rows = 19;
  Pair x = bed.random({n_rows, n}, 2.0f, false);
  for (float& value : x.values) value = std::round(value);  // many are equal
  x = bed.pair({n_rows, n}, x.values, false);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(3 * n));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = i * 7 % 5 < 2 ? 200 : 0;
  const Rules allowed = make_rules(bed, 3, n, bytes);
  std::vector<std::int32_t> rule_of(static_cast<std::size_t>(n_rows));
  for (std::size_t r = 0; r < rule_of.size(); ++r) rule_of[r] = static_cast<std::int32_t>(r % 3);
  const int which = GENERATE(0, 1, 2);  // no rule, one for all, one for each row
  test::Indices rules = bed.indices(rule_of);
  test::Indices out = which == 2 ? rules : bed.indices(rule_of);  // the words may be the rules
  out.host.data = out.values.data();
  const Pair value = bed.unset({n_rows}, false);
  ops::argmax(bed.reference(), {x.host, which == 0 ? tensor::Tensor() : allowed.host,
                                which == 2 ? rules.host : tensor::Tensor(), out.host, value.host});
  ops::argmax(bed.device(),
              {x.device, which == 0 ? tensor::Tensor() : allowed.device,
               which == 2 ? rules.device : tensor::Tensor(), out.device, value.device});
  CHECK(fetch_words(bed, out.device) == out.values);
  CHECK(bed.fetch(value.device) == value.values);
}

TEST_CASE("ops.argmax: NaN, infinities, and rows where nothing is allowed", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  const Pair x = bed.pair({5, 3},
                          {nan, 1, 2, nan, nan, nan, -infinity, -infinity, -infinity, nan,
                           -infinity, nan, 3, infinity, infinity},
                          false);
  const Rules allowed = make_rules(bed, 2, 3, {1, 1, 1, 0, 0, 0});
  const Pair value = bed.unset({5}, false);
  const test::Indices out = bed.indices({9, 9, 9, 9, 9});
  const auto run = [&](std::int64_t rule) {
    ops::argmax(bed.device(),
                {x.device, allowed.device.slice(0, rule, rule + 1), {}, out.device, value.device});
  };
  run(0);
  CHECK(fetch_words(bed, out.device) == std::vector<std::int32_t>{2, 0, 0, 1, 1});
  CHECK(bed.fetch(value.device) ==
        std::vector<float>{2, -infinity, -infinity, -infinity, infinity});
  run(1);
  CHECK(fetch_words(bed, out.device) == std::vector<std::int32_t>{0, 0, 0, 0, 0});
  CHECK(bed.fetch(value.device) == std::vector<float>(5, -infinity));
}
