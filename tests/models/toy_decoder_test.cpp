// A toy decoder: embed, then for each layer attention over the words so far (a cache), attention
// over an encoder's rows, then a head and the greatest word that a rule allows, until the stop
// word.
#include <map>

#include "lib/decode/key_value_cache.hpp"
#include "lib/ops/attention/cross_attention.hpp"
#include "lib/ops/gather/embed.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"
#include "lib/ops/reduction/argmax.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using tensor::DType;
using tensor::Tensor;
using test::Bed;
using test::Pair;

namespace {

constexpr std::int64_t kWidth = 32, kHeads = 2, kWords = 12, kSteps = 14;
constexpr std::int32_t kStart = 1, kStop = 2;
constexpr int kLayers = 2;
constexpr float kScale = 0.4f;

struct ToyLayer {
  tensor::Linear qkv, self_out, q, kv, cross_out;
  tensor::Norm before_cross, after;
};

// The model on one context.
struct Toy {
  tensor::Context* context;
  Tensor table, positions, allowed;
  tensor::Norm first;
  ToyLayer layers[kLayers];
  tensor::Linear head;
};

// The same weights on the context under test and on the reference, and what owns the host's.
struct ToyPair {
  std::vector<Pair> pairs;
  std::vector<test::LinearPair> linears;
  std::vector<std::uint8_t> rules;
  Toy device, host;
};

void add_norm(Bed& bed, ToyPair& toy, tensor::Norm& device, tensor::Norm& host) {
  const Pair& weight = toy.pairs.emplace_back(bed.random({kWidth}, 0.7f, false));
  device.weight = weight.device;
  host.weight = weight.host;
  const Pair& bias = toy.pairs.emplace_back(bed.random({kWidth}, 0.3f, false));
  device.bias = bias.device;
  host.bias = bias.host;
}

// No word twice in a row, never the start word, no stop word right behind the start.
std::vector<std::uint8_t> make_rules() {
  std::vector<std::uint8_t> rules(kWords * kWords, 1);
  for (std::int64_t word = 0; word < kWords; ++word)
    rules[static_cast<std::size_t>(word * kWords + word)] =
        rules[static_cast<std::size_t>(word * kWords + kStart)] = 0;
  rules[kStart * kWords + kStop] = 0;
  return rules;
}

ToyPair make_toy(Bed& bed) {
  ToyPair toy;
  toy.device.context = &bed.device();
  toy.host.context = &bed.reference();
  toy.pairs.reserve(64);
  const auto matrix = [&](std::int64_t n_out, tensor::Linear& device, tensor::Linear& host) {
    const test::LinearPair& made = toy.linears.emplace_back(bed.linear(n_out, kWidth));
    device = made.device;
    host = made.host;
  };
  const auto table = [&](std::int64_t n, Tensor& device, Tensor& host) {
    const Pair& made = toy.pairs.emplace_back(bed.random({n, kWidth}, 1.0f, false));
    device = made.device;
    host = made.host;
  };
  table(kWords, toy.device.table, toy.host.table);
  table(kSteps, toy.device.positions, toy.host.positions);
  add_norm(bed, toy, toy.device.first, toy.host.first);
  for (int i = 0; i < kLayers; ++i) {
    ToyLayer &device = toy.device.layers[i], &host = toy.host.layers[i];
    matrix(3 * kWidth, device.qkv, host.qkv);
    matrix(kWidth, device.self_out, host.self_out);
    matrix(kWidth, device.q, host.q);
    matrix(2 * kWidth, device.kv, host.kv);
    matrix(kWidth, device.cross_out, host.cross_out);
    add_norm(bed, toy, device.before_cross, host.before_cross);
    add_norm(bed, toy, device.after, host.after);
  }
  matrix(kWords, toy.device.head, toy.host.head);
  toy.rules = make_rules();
  toy.host.allowed = Tensor(toy.rules.data(), DType::u8, {kWords, kWords});
  toy.device.allowed = toy.host.allowed;
  toy.device.allowed.data = bed.device().allocate(toy.rules.size());
  bed.device().copy_in(toy.device.allowed, toy.rules.data());
  return toy;
}

Tensor heads(const Tensor& x, std::int64_t part) {
  return tensor::split_heads(x.slice(1, part * kWidth, (part + 1) * kWidth), kHeads);
}

// Words at their positions to logits. attend(layer, qkv, out) mixes the values of words so far.
struct ToyPass {
  const Toy& toy;
  tensor::Arena& arena;
  const tensor::Ragged& queries;  // rows of each sequence
  const Tensor* memory;           // keys and values of the encoder's rows, for each layer
  Tensor memory_starts;

  template <class Attend>
  void run(const Tensor& words, const Tensor& positions, const Tensor& logits,
           const Attend& attend) const {
    tensor::Context& context = *toy.context;
    const auto scope = arena.scope();
    const std::int64_t n = words.shape[0];
    const Tensor x = arena.take(DType::f32, {n, kWidth});
    const Tensor y = arena.take(context.compute_dtype(), {n, kWidth}),
                 q = arena.take(context.compute_dtype(), {n, kWidth}),
                 mixed = arena.take(context.compute_dtype(), {n, kWidth}),
                 qkv = arena.take(context.compute_dtype(), {n, 3 * kWidth});
    using ops::Activation;
    ops::embed(context,
               {toy.table, words, {}, toy.positions, positions, toy.first, x, Tensor(), y});
    for (int i = 0; i < kLayers; ++i) {
      const ToyLayer& layer = toy.layers[i];
      ops::gemm(context, {y, &layer.qkv, Activation::none, {}, qkv});
      attend(i, qkv, mixed);
      ops::gemm(context, {mixed, &layer.self_out, Activation::none, x, x});
      ops::add_layer_norm(context, {x, {}, layer.before_cross, {}, {}, y});
      ops::gemm(context, {y, &layer.q, Activation::none, {}, q});
      ops::cross_attention(context, {tensor::split_heads(q, kHeads),
                                     heads(memory[i], 0),
                                     heads(memory[i], 1),
                                     kScale,
                                     &queries,
                                     memory_starts,
                                     {},
                                     false,
                                     mixed});
      ops::gemm(context, {mixed, &layer.cross_out, Activation::none, x, x});
      ops::add_layer_norm(context, {x, {}, layer.after, {}, {}, y});
    }
    ops::gemm(context, {y, &toy.head, Activation::none, {}, logits});
  }
};

// What an encoder would leave: rows of each sequence. From some sequences of all.
struct Encoded {
  Pair rows;  // operand [*, kWidth]
  std::vector<std::int32_t> lengths;
};

// Keys and values of the encoder's rows [begin, end), made once for all steps.
std::vector<Tensor> remember(const Toy& toy, tensor::Arena& arena, const Tensor& rows) {
  std::vector<Tensor> memory;
  for (const ToyLayer& layer : toy.layers) {
    memory.push_back(arena.take(toy.context->compute_dtype(), {rows.shape[0], 2 * kWidth}));
    ops::gemm(*toy.context, {rows, &layer.kv, ops::Activation::none, {}, memory.back()});
  }
  return memory;
}

struct Decoded {
  std::vector<std::int32_t> words;         // with the start word, up to the stop word or the limit
  std::vector<std::vector<float>> logits;  // of each step
};

// With a cache, a captured graph from the second step on.
std::vector<Decoded> decode_words(Bed& bed, const Toy& toy, const Tensor& rows,
                                  const std::vector<std::int32_t>& lengths) {
  tensor::Context& context = *toy.context;
  const auto n = static_cast<std::int64_t>(lengths.size());
  const std::size_t bytes = std::size_t{1} << 20;
  void* const block = context.allocate(bytes);
  tensor::Arena arena(block, bytes);
  std::vector<std::int32_t> starts{0};
  for (const std::int32_t length : lengths) starts.push_back(starts.back() + length);
  const Tensor memory_starts = arena.take(DType::i32, {n + 1});
  context.copy_in(memory_starts, starts.data());
  const std::vector<Tensor> memory = remember(toy, arena, rows);
  decode::KeyValueCache cache(context, arena, {kLayers, n, kSteps, kHeads, kWidth / kHeads});
  const Tensor words = arena.take(DType::i32, {n});
  const Tensor logits = arena.take(DType::f32, {n, kWords});
  std::vector<std::int32_t> now(static_cast<std::size_t>(n), kStart);
  context.copy_in(words, now.data());
  const ToyPass pass{toy, arena, cache.queries(), memory.data(), memory_starts};
  std::vector<Decoded> all(static_cast<std::size_t>(n), Decoded{{kStart}, {}});
  for (std::int64_t step = 0; step < kSteps; ++step) {
    context.capture(static_cast<std::uint64_t>(n), [&] {
      pass.run(words, cache.positions(), logits,
               [&](int layer, const Tensor& qkv, const Tensor& mixed) {
                 cache.append(layer, qkv.slice(1, kWidth, 3 * kWidth));
                 cache.attend(layer, heads(qkv, 0), kScale, mixed);
               });
      ops::argmax(context, {logits, toy.allowed, words, words, {}});
    });
    cache.advance();
    context.copy_out(now.data(), words);
    const std::vector<float> got = bed.fetch(logits);
    for (std::size_t s = 0; s < all.size(); ++s) {
      if (all[s].words.back() == kStop) continue;
      all[s].words.push_back(now[s]);
      all[s].logits.emplace_back(got.begin() + static_cast<std::ptrdiff_t>(s) * kWords,
                                 got.begin() + static_cast<std::ptrdiff_t>(s + 1) * kWords);
    }
  }
  CHECK_THROWS(cache.advance());
  context.release(block);
  return all;
}

// All logits of one sequence in one pass in double precision, without a cache: each word sees
// itself and those before it.
std::vector<float> without_cache(const Toy& toy, const Tensor& rows,
                                 std::vector<std::int32_t> words) {
  const auto n = static_cast<std::int64_t>(words.size());
  std::vector<std::uint8_t> block(std::size_t{1} << 20);
  void* memory_block = block.data();
  std::size_t room = block.size();
  std::align(tensor::Arena::kAlignment, room / 2, memory_block, room);
  tensor::Arena arena(memory_block, room);
  const tensor::Ragged queries =
      toy.context->upload_ragged({0, static_cast<std::int32_t>(n)}, arena);
  std::vector<std::int32_t> starts{0, static_cast<std::int32_t>(rows.shape[0])};
  const std::vector<Tensor> memory = remember(toy, arena, rows);
  std::vector<float> logits(static_cast<std::size_t>(n * kWords));
  const ToyPass pass{toy, arena, queries, memory.data(), Tensor(starts.data(), DType::i32, {2})};
  pass.run(Tensor(words.data(), DType::i32, {n}), queries.positions,
           Tensor(logits.data(), DType::f32, {n, kWords}),
           [&](int, const Tensor& qkv, const Tensor& mixed) {
             ops::cross_attention(*toy.context, {heads(qkv, 0),
                                                 heads(qkv, 1),
                                                 heads(qkv, 2),
                                                 kScale,
                                                 &queries,
                                                 queries.device_starts,
                                                 {},
                                                 true,
                                                 mixed});
           });
  return logits;
}

// The words are the greatest allowed ones of the logits, and these those of the reference.
void check_decoded(const Decoded& got, const std::vector<float>& expected,
                   const std::vector<std::uint8_t>& rules, double bound) {
  double squares = 0, worst = 0;
  for (std::size_t step = 0; step < got.logits.size(); ++step) {
    std::int32_t best = -1;
    for (std::int32_t word = 0; word < kWords; ++word) {
      const auto w = static_cast<std::size_t>(word);
      const float right = expected[step * kWords + w], logit = got.logits[step][w];
      squares += static_cast<double>(right) * right;
      worst = test::worse_of(worst, std::fabs(static_cast<double>(logit) - right));
      if (rules[static_cast<std::size_t>(got.words[step]) * kWords + w] == 0) continue;
      if (best < 0 || logit > got.logits[step][static_cast<std::size_t>(best)]) best = word;
    }
    CHECK(got.words[step + 1] == best);
  }
  CHECK(worst < bound * std::sqrt(squares / static_cast<double>(kWords * got.logits.size())));
}

}  // namespace

TEST_CASE("models.toy_decoder: a cache gives what a pass without one gives, alone and in a batch",
          "[models]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const ToyPair toy = make_toy(bed);
  const std::vector<std::int32_t> lengths{5, 19, 1, 8};
  const Pair rows = bed.random({33, kWidth}, 1.5f, true);
  const std::vector<Decoded> batch = decode_words(bed, toy.device, rows.device, lengths);
  std::map<std::size_t, int> n_of_length;
  std::int64_t begin = 0;
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    const Decoded& got = batch[s];
    const std::int64_t end = begin + lengths[s];
    ++n_of_length[got.words.size()];
    std::vector<std::int32_t> inputs(got.words.begin(), got.words.end() - 1);
    check_decoded(got, without_cache(toy.host, rows.host.slice(0, begin, end), inputs), toy.rules,
                  bed.is_cpu() ? 2e-5 : 4 * bed.operand_bound());
    const std::vector<Decoded> alone =
        decode_words(bed, toy.device, rows.device.slice(0, begin, end), {lengths[s]});
    CHECK(alone[0].words == got.words);
    CHECK(alone[0].logits == got.logits);
    begin = end;
  }
  CHECK(n_of_length.size() > 1);  // some stop before others
}
