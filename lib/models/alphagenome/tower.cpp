#include "lib/models/alphagenome/tower.hpp"

#include <cmath>

#include "lib/ops/attention/dot_product_attention.hpp"
#include "lib/ops/attention/rotate_heads.hpp"
#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/gather/permute.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/gemm/matmul.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"
#include "lib/ops/reduction/mean_pool.hpp"
#include "lib/tensor/views.hpp"

namespace biogpu::models::alphagenome {
namespace {

using ops::Activation;
using ops::MapCode;
using tensor::DType;
using tensor::Linear;
using tensor::permuted;
using tensor::split_axis;
using tensor::Tensor;

constexpr float kSoftCap = 5;

// Parts of one block at a time, on tensors of the whole pass.
class Tower {
 public:
  Tower(Pass& pass, const Config& config, const Weights& weights, const Batch& batch, PairGelu gelu,
        const Tensor& x, const Tensor& pair)
      : context_(pass.context()),
        arena_(pass.arena()),
        config_(config),
        weights_(weights),
        batch_(batch),
        gelu_(gelu == PairGelu::tanh ? MapCode::gelu_tanh : MapCode::gelu_erf),
        x_(x),
        pair_(pair) {}

  void update_pairs(const PairUpdate& update, bool first);
  void attend(const TowerBlock& block);
  void feed_forward(const TowerBlock& block);

 private:
  Tensor operand(std::initializer_list<std::int64_t> shape) {
    return arena_.take(context_.compute_dtype(), shape);
  }
  Tensor floats(std::initializer_list<std::int64_t> shape) {
    return arena_.take(DType::f32, shape);
  }
  Tensor product(const Tensor& x, const Linear& map, DType type,
                 Activation activation = Activation::none) {
    const Tensor out = arena_.take(type, {x.shape[0], map.n_out});
    ops::gemm(context_, {x, &map, activation, {}, out});
    return out;
  }
  // All pairs as rows.
  Tensor pair_rows(const Tensor& pairs) const {
    return {pairs.data, pairs.dtype, {pairs.size() / pairs.shape[3], pairs.shape[3]}};
  }
  Tensor rms(const Tensor& rows, const tensor::Norm& norm) {
    const Tensor out = operand({rows.shape[0], rows.shape[1]});
    ops::add_layer_norm(context_, {rows, {}, norm, {}, {}, out, ops::NormKind::rms});
    return out;
  }
  Tensor scores(const Tensor& q, const Tensor& k, const PairUpdate& update);
  void row_attention(const PairUpdate& update);
  void pair_mlp(const PairUpdate& update);

  tensor::Context& context_;
  tensor::Arena& arena_;
  const Config& config_;
  const Weights& weights_;
  const Batch& batch_;
  const MapCode gelu_;
  const Tensor x_, pair_;
};

// q_i k_j + 1/2 ((q_i + b) E_{j - i} + (k_j + c) E_{i - j}) of every head, as rows of pairs:
// operand [windows * n * n, heads].
Tensor Tower::scores(const Tensor& q, const Tensor& k, const PairUpdate& update) {
  const std::int64_t n = batch_.n_pairs, windows = batch_.n_windows;
  const std::int64_t heads = config_.n_pair_heads, d = config_.pair_head_dim;
  const Tensor out = operand({windows, n, n, heads});
  const auto scope = arena_.scope();
  // [windows, heads, n, d]
  const auto by_head = [&](const Tensor& rows) {
    return permuted(split_axis(split_axis(rows, 1, d), 0, n), {0, 2, 1, 3});
  };
  const Tensor features = operand({2 * n, config_.n_position_features});
  ops::map(context_, ops::map_copy(batch_.features, features));
  const Tensor positions = product(features, update.positions, context_.compute_dtype());
  Tensor by_distance = permuted(split_axis(positions, 1, d), {1, 2, 0});  // [heads, d, 2 n]
  by_distance = tensor::repeated(by_distance, 0);

  const Tensor content = floats({windows, heads, n, n});
  ops::matmul(context_, {by_head(q), tensor::transposed(by_head(k)), content});
  // In row i, the distance j - i is column j - i + n: from one row to the next, columns move by
  // one.
  const auto relative = [&](const Tensor& rows, const Tensor& bias, bool of_key) {
    const Tensor biased = operand({windows * n, heads * d});
    ops::map(context_, ops::map_add(split_axis(rows, 1, d), bias, split_axis(biased, 1, d)));
    Tensor all = floats({windows, heads, n, 2 * n});
    ops::matmul(context_, {by_head(biased), by_distance, all});
    Tensor view = all.slice(3, n, 2 * n);
    view.stride[of_key ? 3 : 2] = 2 * n - 1;
    view.stride[of_key ? 2 : 3] = 1;
    return view;
  };
  const Tensor by_query = relative(q, update.query_bias, false);
  const Tensor by_key = relative(k, update.key_bias, true);
  const Tensor by_key_rows = floats({windows, heads, n, n});
  ops::permute(context_, {by_key, by_key_rows});
  ops::map(context_, ops::make_map({by_query, by_key_rows, content},
                                   {{MapCode::add, 1},
                                    {MapCode::multiply, ops::Map::kNumber, 0, 0.5f},
                                    {MapCode::add, 2}},
                                   content));
  ops::permute(context_, {permuted(content, {0, 2, 3, 1}), out});
  return pair_rows(out);
}

void Tower::update_pairs(const PairUpdate& update, bool first) {
  const std::int64_t n = batch_.n_pairs, windows = batch_.n_windows, width = config_.width();
  const std::int64_t channels = config_.pair_channels;
  {
    const auto scope = arena_.scope();
    const Tensor mean = floats({windows * n, width}), z = operand({windows * n, width});
    ops::mean_pool(context_, {x_, &batch_.pair_rows, 0, 0, mean});
    ops::add_layer_norm(context_, {mean, {}, update.input_norm, {}, mean, z, ops::NormKind::rms});
    const DType type = context_.compute_dtype();
    const Tensor q = product(z, update.query, type), k = product(z, update.key, type);
    const Tensor y = product(scores(q, k, update), update.heads, DType::f32);
    const Tensor activated = operand({windows * n, width});
    ops::map(context_, ops::map_function(gelu_, mean, activated));
    const Tensor sides = product(activated, update.sides, DType::f32);
    const auto side = [&](std::int64_t begin, int axis) {
      return tensor::repeated(split_axis(sides.slice(1, begin, begin + channels), 0, n), axis);
    };
    const Tensor all = split_axis(split_axis(y, 0, n), 0, n);  // [windows, n, n, channels]
    const Tensor of_query = side(0, 2), of_key = side(channels, 1);
    ops::map(
        context_,
        first
            ? ops::make_map({all, of_query, of_key}, {{MapCode::add, 1}, {MapCode::add, 2}}, pair_)
            : ops::make_map({all, of_query, of_key, pair_},
                            {{MapCode::add, 1}, {MapCode::add, 2}, {MapCode::add, 3}}, pair_));
  }
  row_attention(update);
  pair_mlp(update);
}

void Tower::row_attention(const PairUpdate& update) {
  const auto scope = arena_.scope();
  const std::int64_t n = batch_.n_pairs, channels = config_.pair_channels;
  const Tensor rows = pair_rows(pair_);
  const Tensor qkv = product(rms(rows, update.row_norm), update.row_qkv, context_.compute_dtype());
  // [windows * n, n, 1, channels]
  const auto part = [&](const Tensor& of, std::int64_t i) {
    return tensor::repeated(split_axis(of.slice(1, i * channels, (i + 1) * channels), 0, n), 2);
  };
  const Tensor attended = operand({rows.shape[0], channels});
  ops::DotProductAttention op;
  op.q = part(qkv, 0);
  op.k = part(qkv, 1);
  op.v = part(qkv, 2);
  op.out = part(attended, 0);
  ops::dot_product_attention(context_, op);
  ops::map(context_, ops::map_add(rows, attended, rows));
}

void Tower::pair_mlp(const PairUpdate& update) {
  const auto scope = arena_.scope();
  const Tensor rows = pair_rows(pair_);
  const Tensor up = product(rms(rows, update.mlp_norm), update.mlp_up, context_.compute_dtype(),
                            Activation::relu);
  ops::gemm(context_, {up, &update.mlp_down, Activation::none, rows, rows});
}

void Tower::attend(const TowerBlock& block) {
  const auto scope = arena_.scope();
  const std::int64_t n = batch_.n_pairs, heads = config_.n_heads, d = config_.d_key;
  const std::int64_t n_rows = x_.shape[0], n_positions = batch_.n_positions;
  const DType type = context_.compute_dtype();
  const Tensor pairs = pair_rows(pair_);
  const Tensor activated = operand({pairs.shape[0], pairs.shape[1]});
  ops::map(context_, ops::make_map({pairs, block.bias_norm.scale, block.bias_norm.shift},
                                   {{MapCode::multiply_add, 1, 2}, {gelu_}}, activated));
  const Tensor bias = product(activated, block.bias, DType::f32);

  const Tensor x = operand({n_rows, config_.width()});
  ops::map(context_, ops::map_copy(x_, x));
  const Tensor q = product(x, block.query, type), kv = product(x, block.key_value, type);
  const auto normalise = [&](const Tensor& rows, const tensor::Norm& norm) {
    ops::add_layer_norm(context_, {rows, {}, norm, {}, {}, rows});
  };
  const Tensor k = kv.slice(1, 0, d), v = kv.slice(1, d, d + config_.d_value);
  normalise({q.data, q.dtype, {n_rows * heads, d}}, block.query_norm);
  normalise(k, block.key_norm);
  normalise(v, block.value_norm);
  const auto rotate = [&](const Tensor& rows) {
    ops::rotate_heads(context_,
                      {split_axis(rows, 1, d), {weights_.rotary}, batch_.coarse.positions});
  };
  rotate(q);
  rotate(k);
  const Tensor attended = operand({n_rows, heads * config_.d_value});
  // [windows, positions, heads, numbers of a head]
  const auto by_window = [&](const Tensor& rows, std::int64_t of_head) {
    return split_axis(split_axis(rows, 1, of_head), 0, n_positions);
  };
  ops::DotProductAttention op;
  op.q = by_window(q, d);
  op.k = by_window(k, d);
  op.v = by_window(v, config_.d_value);
  op.scale = 1 / std::sqrt(static_cast<float>(d));
  op.bias = permuted(split_axis(split_axis(bias, 0, n), 0, n), {0, 3, 1, 2});
  op.bias_block = kPairRows;
  op.soft_cap = kSoftCap;
  op.out = by_window(attended, config_.d_value);
  ops::dot_product_attention(context_, op);
  ops::gemm(context_, {attended, &block.attention_out, Activation::none, x_, x_});
}

void Tower::feed_forward(const TowerBlock& block) {
  const auto scope = arena_.scope();
  const Tensor x = operand({x_.shape[0], config_.width()});
  ops::map(context_, ops::map_copy(x_, x));
  const Tensor up = product(x, block.ffn_up, context_.compute_dtype(), Activation::relu);
  ops::gemm(context_, {up, &block.ffn_down, Activation::none, x_, x_});
}

}  // namespace

void run_tower(Pass& pass, const Config& config, const Weights& weights, const Batch& batch,
               PairGelu gelu, const Tensor& x, const Tensor& pair) {
  Tower tower(pass, config, weights, batch, gelu, x, pair);
  bool first = true;
  for (const TowerBlock& block : weights.tower) {
    if (block.pair_update) tower.update_pairs(*block.pair_update, first);
    first = false;
    tower.attend(block);
    tower.feed_forward(block);
  }
}

}  // namespace biogpu::models::alphagenome
