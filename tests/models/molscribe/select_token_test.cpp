#include "lib/models/molscribe/ops/select_token.hpp"

#include "tests/models/molscribe/check_indices.hpp"

using namespace biogpu;
using models::molscribe::SelectToken;
using tensor::DType;
using tensor::Tensor;
using test::Bed;
using test::Pair;

namespace {

constexpr std::int64_t kRows = 5, kCapacity = 6, kWidth = 7;
constexpr std::int32_t kStop = 2;

// The state of rows on one context.
struct Rows {
  test::Indices tokens, lengths, n_keys, history;
  Pair log_probabilities, margins, states;

  explicit Rows(Bed& bed)
      : tokens(bed.indices({1, 9, 20, kStop, 4})),
        lengths(bed.indices({0, 2, 3, 1, static_cast<std::int32_t>(kCapacity)})),
        n_keys(bed.indices({1, 3, 4, 2, 6})),
        history(bed.indices(std::vector<std::int32_t>(kRows * kCapacity, -1))),
        log_probabilities(bed.unset({kRows, kCapacity}, false)),
        margins(bed.unset({kRows, kCapacity}, false)),
        states(bed.unset({kRows * kCapacity, kWidth}, false)) {}

  void set(SelectToken& op, Tensor test::Indices::*numbers, Tensor Pair::*values) const {
    op.tokens = tokens.*numbers;
    op.lengths = lengths.*numbers;
    op.n_keys = n_keys.*numbers;
    const Tensor& flat = history.*numbers;
    op.history = Tensor(flat.data, DType::i32, {kRows, kCapacity});
    op.log_probabilities = log_probabilities.*values;
    op.margins = margins.*values;
    op.states = states.*values;
  }
};

}  // namespace

// Rows: at the beginning, behind a symbol, behind a bin, at its stop token, full.
TEST_CASE("ops.select_token: each row by its rule, and rows at their end stay", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int32_t n_symbols = GENERATE(10, 130), n_bins = GENERATE(2, 40);
  const std::int64_t n = n_symbols + 2 * n_bins;
  const std::int32_t after = GENERATE(0, 1);  // row 2: behind a bin of x or of y
  Rows rows(bed);
  rows.tokens.values[2] = n_symbols + after * n_bins;
  bed.device().copy_in(rows.tokens.device, rows.tokens.values.data());
  Pair logits = bed.random({kRows, n}, 3.0f, false);
  for (float& value : logits.values) value = std::round(value);  // many are equal
  logits.values[kStop] = 99;                                     // not at the beginning
  logits = bed.pair({kRows, n}, logits.values, false);
  const Pair hidden = bed.random({kRows, kWidth}, 1.0f, false);
  SelectToken op;
  op.rule = {n_symbols, n_bins, kStop};
  op.logits = logits.device;
  op.hidden = hidden.device;
  rows.set(op, &test::Indices::device, &Pair::device);
  models::molscribe::select_token(bed.device(), op);
  op.logits = logits.host;
  op.hidden = hidden.host;
  rows.set(op, &test::Indices::host, &Pair::host);
  models::molscribe::select_token(bed.reference(), op);
  test::check_indices(bed, rows.tokens);
  test::check_indices(bed, rows.lengths);
  test::check_indices(bed, rows.n_keys);
  test::check_indices(bed, rows.history);
  CHECK(bed.difference(rows.log_probabilities) < 1e-6);
  CHECK(bed.fetch(rows.margins.device) == rows.margins.values);
  CHECK(bed.fetch(rows.states.device) == rows.states.values);
  CHECK(rows.tokens.values[0] != kStop);
  CHECK(op.rule.is_y(rows.tokens.values[2]) == (after == 0));
  CHECK(rows.lengths.values == std::vector<std::int32_t>{1, 3, 4, 1, 6});
}
