#include "lib/ops/gather/append_rows.hpp"

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

TEST_CASE("ops.append_rows: one row more for each sequence, none where the room is full", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(1, 6, 64);
  // Columns of wider rows, as keys and values are of a projection and of a cache.
  const Pair x = bed.random({4, d + 5}, 1.0f, true);
  const Pair cache = bed.unset({11, d + 2}, true);
  const test::Indices starts = bed.indices({0, 3, 3, 7, 11}), counts = bed.indices({0, 0, 4, 3});
  const auto run = [&](tensor::Context& context, const auto& of, const auto& of_indices) {
    ops::append_rows(context, {of(x).slice(1, 0, d), of_indices(starts), of_indices(counts),
                               of(cache).slice(1, 1, 1 + d)});
  };
  run(
      bed.reference(), [](const Pair& p) { return p.host; },
      [](const test::Indices& i) { return i.host; });
  run(
      bed.device(), [](const Pair& p) { return p.device; },
      [](const test::Indices& i) { return i.device; });
  CHECK(bed.difference(cache) == 0);
  // Rows 0 and 10 alone; the second sequence has no room, the third one's is full.
  const std::vector<float> got = bed.fetch(cache.device);
  for (std::int64_t row = 0; row < 11; ++row)
    for (std::int64_t c = 0; c < d + 2; ++c) {
      const bool written = (row == 0 || row == 10) && c >= 1 && c <= d;
      CHECK(got[static_cast<std::size_t>(row * (d + 2) + c)] ==
            (written ? x.values[static_cast<std::size_t>((row == 0 ? 0 : 3) * (d + 5) + c - 1)]
                     : 7.0f));
    }
}

TEST_CASE("ops.append_rows: many sequences, with a row more at each step", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  constexpr std::int64_t kSequences = 50, d = 5;  // of more than one task
  std::vector<std::int32_t> starts{0}, none(kSequences, 0), one(kSequences, 1);
  for (std::int32_t s = 0; s < kSequences; ++s) starts.push_back(starts.back() + s % 3);
  const std::int64_t n_rows = starts.back();
  std::vector<float> first, second;  // the sequence, and 100 more at the second step
  for (std::int64_t i = 0; i < kSequences * d; ++i) {
    first.push_back(static_cast<float>(i / d));
    second.push_back(static_cast<float>(i / d + 100));
  }
  const Pair cache = bed.unset({n_rows, d}, true);
  const test::Indices at = bed.indices(starts);
  ops::append_rows(bed.device(), {bed.pair({kSequences, d}, first, true).device, at.device,
                                  bed.indices(none).device, cache.device});
  ops::append_rows(bed.device(), {bed.pair({kSequences, d}, second, true).device, at.device,
                                  bed.indices(one).device, cache.device});
  // Sequences have room for 0, 1 and 2 rows in turn.
  std::vector<float> wanted;
  for (std::int64_t s = 0; s < kSequences; ++s)
    for (std::int64_t row = 0; row < s % 3; ++row)
      for (std::int64_t c = 0; c < d; ++c) wanted.push_back(static_cast<float>(s + 100 * row));
  CHECK(bed.fetch(cache.device) == wanted);
}
