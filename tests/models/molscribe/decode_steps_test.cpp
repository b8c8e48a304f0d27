#include "lib/models/molscribe/ops/decode_steps.hpp"

#include "tests/models/molscribe/check_indices.hpp"

using namespace biogpu;
using models::molscribe::DecodeSteps;
using models::molscribe::SelectToken;
using tensor::DType;
using tensor::Tensor;
using test::Bed;
using test::Pair;

namespace {

// The published width, since the kernel has no other; few layers, rows of a picture and steps,
// since an emulated device is slow.
constexpr std::int64_t kLayers = 2, kStepWidth = 256, kMemory = 33, kStepCapacity = 140, kSteps = 2;
constexpr std::int32_t kSymbols = 101, kBins = 64, kStopToken = 2;
constexpr std::int64_t kTokens = kSymbols + 2 * kBins;

Pair random_around(Bed& bed, std::initializer_list<std::int64_t> shape, float size, float mean) {
  Pair numbers = bed.random(shape, size, false);
  for (float& value : numbers.values) value += mean;
  return bed.pair(shape, numbers.values, false);
}

// Weights of which a layer's sums neither vanish nor grow.
struct Decoder {
  Pair layers, table, norm_weight, norm_bias, head, head_bias;

  explicit Decoder(Bed& bed)
      : table(bed.random({kTokens, kStepWidth}, 1.0f, false)),
        norm_weight(random_around(bed, {kStepWidth}, 0.1f, 1)),
        norm_bias(bed.random({kStepWidth}, 0.1f, false)),
        head(bed.random({kTokens, kStepWidth}, 0.1f, false)),
        head_bias(bed.random({kTokens}, 0.3f, false)) {
    const auto at = models::molscribe::decoder_layout(kStepWidth);
    layers = bed.random({kLayers, at.size}, 0.07f, false);
    for (std::int64_t layer = 0; layer < kLayers; ++layer)
      for (const std::int64_t norm : {at.self_norm, at.cross_norm, at.ffn_norm})
        for (std::int64_t i = 0; i < kStepWidth; ++i)
          layers.values[static_cast<std::size_t>(layer * at.size + norm + i)] += 1;
    layers = bed.pair({kLayers, at.size}, layers.values, false);
  }

  void set(DecodeSteps& op, Tensor Pair::*values) const {
    op.n_heads = 8;
    op.layers = layers.*values;
    op.table = table.*values;
    op.last_norm.weight = norm_weight.*values;
    op.last_norm.bias = norm_bias.*values;
    op.head = head.*values;
    op.head_bias = head_bias.*values;
  }
};

// Where a row is, and the caches that it has then.
struct Start {
  std::int32_t token, length;
};

struct StepRows {
  std::int64_t n;
  test::Indices tokens, lengths, n_keys, history;
  Pair log_probabilities, margins, states, own, memory;

  StepRows(Bed& bed, const std::vector<Start>& starts, const Pair& all_own, const Pair& all_memory,
           std::int64_t first)
      : n(std::ssize(starts)),
        history(bed.indices(
            std::vector<std::int32_t>(static_cast<std::size_t>(n * kStepCapacity), -1))),
        log_probabilities(bed.unset({n, kStepCapacity}, false)),
        margins(bed.unset({n, kStepCapacity}, false)),
        states(bed.unset({n * kStepCapacity, kStepWidth}, false)) {
    std::vector<std::int32_t> of_tokens, of_lengths, of_keys;
    for (const Start& start : starts) {
      of_tokens.push_back(start.token);
      of_lengths.push_back(start.length);
      of_keys.push_back(std::min(start.length + 1, static_cast<std::int32_t>(kStepCapacity)));
    }
    tokens = bed.indices(of_tokens);
    lengths = bed.indices(of_lengths);
    n_keys = bed.indices(of_keys);
    // Rows [first, first + n) of caches of more rows.
    const std::int64_t n_all = all_memory.host.shape[0] / kMemory,
                       row = kStepCapacity * 2 * kStepWidth;
    std::vector<float> own_values;
    for (std::int64_t layer = 0; layer < kLayers; ++layer) {
      const auto from = all_own.values.begin() + (layer * n_all + first) * row;
      own_values.insert(own_values.end(), from, from + n * row);
    }
    own = bed.pair({kLayers, n * kStepCapacity, 2 * kStepWidth}, std::move(own_values), false);
    const std::int64_t image = kMemory * 2 * kStepWidth * kLayers;
    const auto from = all_memory.values.begin() + first * image;
    memory = bed.pair({n * kMemory, 2 * kStepWidth * kLayers}, {from, from + n * image}, false);
  }

  void set(DecodeSteps& op, Tensor test::Indices::*numbers, Tensor Pair::*values) const {
    SelectToken& state = op.state;
    state.rule = {kSymbols, kBins, kStopToken};
    state.tokens = tokens.*numbers;
    state.lengths = lengths.*numbers;
    state.n_keys = n_keys.*numbers;
    state.history = Tensor((history.*numbers).data, DType::i32, {n, kStepCapacity});
    state.log_probabilities = log_probabilities.*values;
    state.margins = margins.*values;
    state.states = states.*values;
    op.own = own.*values;
    op.memory = memory.*values;
  }
};

// At the beginning, behind more keys than are read at once, one short of the end, at its stop
// token, and within the keys that are read at once.
const std::vector<Start> kStarts{{1, 0},
                                 {110, 131},
                                 {7, static_cast<std::int32_t>(kStepCapacity) - 1},
                                 {kStopToken, 5},
                                 {40, 37}};

struct Caches {
  Pair own, memory;
  explicit Caches(Bed& bed)
      : own(bed.random({kLayers, std::ssize(kStarts) * kStepCapacity, 2 * kStepWidth}, 1.0f,
                       false)),
        memory(bed.random({std::ssize(kStarts) * kMemory, 2 * kStepWidth * kLayers}, 1.0f, false)) {
  }
};

}  // namespace

TEST_CASE("ops.decode_steps: tokens, states and caches of each row", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const auto [sharing, together] = GENERATE(table<int, int>({{8, 1}, {16, 2}, {32, 1}, {8, 4}}));
  const Decoder decoder(bed);
  const Caches caches(bed);
  const StepRows rows(bed, kStarts, caches.own, caches.memory, 0);
  DecodeSteps op;
  op.n_steps = kSteps;
  op.n_sharing = sharing;
  op.n_together = together;
  decoder.set(op, &Pair::device);
  rows.set(op, &test::Indices::device, &Pair::device);
  models::molscribe::decode_steps(bed.device(), op);
  decoder.set(op, &Pair::host);
  rows.set(op, &test::Indices::host, &Pair::host);
  models::molscribe::decode_steps(bed.reference(), op);
  test::check_indices(bed, rows.tokens);
  test::check_indices(bed, rows.lengths);
  test::check_indices(bed, rows.n_keys);
  test::check_indices(bed, rows.history);
  CHECK(bed.difference(rows.log_probabilities) < 1e-5);
  CHECK(bed.difference(rows.margins) < 1e-5);
  CHECK(bed.difference(rows.states) < 1e-5);
  CHECK(bed.difference(rows.own) < 1e-5);
  CHECK(rows.lengths.values == std::vector<std::int32_t>{2, 133, kStepCapacity, 5, 39});
}

TEST_CASE("ops.decode_steps: a row's bytes are the same alone and with others", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Decoder decoder(bed);
  const Caches caches(bed);
  DecodeSteps op;
  op.n_steps = kSteps;
  decoder.set(op, &Pair::device);
  const auto run = [&](const StepRows& rows, int sharing, int together) {
    op.n_sharing = sharing;
    op.n_together = together;
    rows.set(op, &test::Indices::device, &Pair::device);
    models::molscribe::decode_steps(bed.device(), op);
    return std::pair(bed.fetch(rows.states.device), bed.fetch(rows.log_probabilities.device));
  };
  const auto [states, log_probabilities] =
      run(StepRows(bed, kStarts, caches.own, caches.memory, 0), 8, 4);
  for (const std::int64_t row : {0, 1, 4}) {
    const StepRows one(bed, {kStarts[static_cast<std::size_t>(row)]}, caches.own, caches.memory,
                       row);
    const auto [its_states, its_log_probabilities] = run(one, row == 0 ? 0 : 16, row == 0 ? 0 : 1);
    CHECK(std::equal(its_states.begin(), its_states.end(),
                     states.begin() + row * kStepCapacity * kStepWidth));
    CHECK(std::equal(its_log_probabilities.begin(), its_log_probabilities.end(),
                     log_probabilities.begin() + row * kStepCapacity));
  }
}
