#include "lib/ops/gather/gather_rows.hpp"

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

TEST_CASE("ops.gather_rows: rows in any order, to any type", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool from_operand = GENERATE(false, true), to_operand = GENERATE(false, true);
  const std::int64_t d = GENERATE(1, 33, 64);
  const Pair x = bed.random({62, d}, 2.0f, true);
  const Pair source =
      from_operand ? bed.pair({62, d}, x.values, true) : bed.pair({62, d}, x.values, false);
  const test::Indices rows = bed.indices({5, 61, 0, -1, 5});
  const Pair out = bed.unset({5, d}, to_operand);
  ops::gather_rows(bed.reference(), {source.host, rows.host, out.host});
  ops::gather_rows(bed.device(), {source.device, rows.device, out.device});
  CHECK(bed.fetch(out.device) == out.values);
  CHECK(out.values[0] == x.values[static_cast<std::size_t>(5 * d)]);
  CHECK(out.values[static_cast<std::size_t>(3 * d)] == 0);
}

TEST_CASE("ops.gather_rows: each number is that of its row, between columns that stay", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool to_operand = GENERATE(false, true);
  const std::int64_t d = GENERATE(1, 8, 13), n = 75;  // rows of more than one task
  std::vector<float> values;  // row and column as a number that every type holds
  for (std::int64_t i = 0; i < 16 * (d + 3); ++i)
    values.push_back(static_cast<float>(i / (d + 3)) + 0.0625f * static_cast<float>(i % (d + 3)));
  std::vector<std::int32_t> from;
  for (std::int32_t r = 0; r < n; ++r) from.push_back((7 * r + 3) % 16);
  const Pair x = bed.pair({16, d + 3}, values, true), out = bed.unset({n, d + 2}, to_operand);
  const test::Indices rows = bed.indices(from);
  ops::gather_rows(bed.device(),
                   {x.device.slice(1, 2, 2 + d), rows.device, out.device.slice(1, 1, 1 + d)});
  const std::vector<float> got = bed.fetch(out.device);
  std::int64_t n_wrong = 0;
  for (std::int64_t r = 0; r < n; ++r)
    for (std::int64_t c = 0; c < d + 2; ++c) {
      const bool written = c >= 1 && c <= d;
      const float wanted =
          written ? static_cast<float>((7 * r + 3) % 16) + 0.0625f * static_cast<float>(c + 1)
                  : 7.0f;
      if (got[static_cast<std::size_t>(r * (d + 2) + c)] != wanted) ++n_wrong;
    }
  CHECK(n_wrong == 0);
  ops::gather_rows(bed.device(), {x.device.slice(1, 0, d), bed.indices({}).device,
                                  out.device.slice(0, 0, 0).slice(1, 0, d)});
  CHECK(bed.fetch(out.device) == got);
}

TEST_CASE("ops.gather_rows: rows of two tensors", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(1, 33, 64);
  const Pair x = bed.random({5, d}, 2.0f, true), more = bed.random({3, d}, 2.0f, true);
  const test::Indices rows = bed.indices({4, 5, 0, 7, 7});
  const Pair out = bed.unset({5, d}, false);
  ops::gather_rows(bed.reference(), {x.host, rows.host, out.host, more.host});
  ops::gather_rows(bed.device(), {x.device, rows.device, out.device, more.device});
  const auto row = [d](const std::vector<float>& values, std::int64_t i) {
    return std::vector<float>(values.begin() + i * d, values.begin() + (i + 1) * d);
  };
  const std::vector<float> got = bed.fetch(out.device);
  CHECK(got == out.values);
  CHECK(row(got, 0) == row(x.values, 4));
  CHECK(row(got, 1) == row(more.values, 0));
  CHECK(row(got, 4) == row(more.values, 2));
  CHECK_THROWS(ops::gather_rows(bed.device(), {x.device, {}, out.device, more.device}));
}

TEST_CASE("ops.gather_rows: without rows, all as they are", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair x = bed.random({5, 33}, 2.0f, true), out = bed.unset({5, 33}, true);
  ops::gather_rows(bed.device(), {x.device, {}, out.device});
  CHECK(bed.fetch(out.device) == x.values);
}
