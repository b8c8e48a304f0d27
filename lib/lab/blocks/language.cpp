// What language models of proteins are made of: maps with what follows them in one pass, norms, and
// attention with rotary positions.
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "lib/lab/block_case.hpp"
#include "lib/ops/attention/attention.hpp"
#include "lib/ops/attention/qkv_rotary.hpp"
#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"

namespace biogpu::lab {
namespace {

using tensor::DType;
using tensor::Tensor;

constexpr std::int64_t kWidening = 4;

double gelu_of(double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }

class LinearGeluCase final : public BlockCase {
 public:
  LinearGeluCase(const Extents& extents, const CaseSettings& settings)
      : BlockCase(settings), n_(extents.n), c_(extents.c) {
    weights_.add_linear("up", kWidening * c_, c_, 1, true);
  }
  void run(const models::BlockContext& run) override {
    ops::gemm(run.context, {x_.device, &up_, ops::Activation::gelu_erf, {}, out_.device});
  }
  Tensor output() const override { return out_.device; }
  Row start(std::int64_t) const override { return {}; }
  Row expected(std::int64_t row) const override {
    Row y = linear_of(row_of(x_.values, row, c_), weights_.at("up"));
    for (double& number : y) number = gelu_of(number);
    return y;
  }
  double operations() const override { return 2.0 * kWidening * static_cast<double>(n_ * c_ * c_); }
  double bytes() const override {
    return static_cast<double>(n_ * c_) *
               (static_cast<double>(tensor::bytes_of(operand_)) + kWidening * sizeof(float)) +
           weights_.bytes();
  }

 private:
  void read(tensor::Context& context, tensor::WeightTable& table) override {
    up_ = models::take_map(context, table, "block.up", kWidening * c_, c_, true);
  }

  const std::int64_t n_, c_;
  CaseTensor& x_ = add_operand({n_, c_});
  CaseTensor& out_ = add_input({n_, kWidening* c_});
  tensor::Linear up_;
};

class LinearResidualCase final : public BlockCase {
 public:
  LinearResidualCase(const Extents& extents, const CaseSettings& settings)
      : BlockCase(settings), n_(extents.n), c_(extents.c) {
    weights_.add_linear("down", c_, kWidening * c_, 1, true);
  }
  void run(const models::BlockContext& run) override {
    ops::gemm(run.context, {hidden_.device, &down_, ops::Activation::none, x_.device, x_.device});
  }
  Tensor output() const override { return x_.device; }
  Row start(std::int64_t row) const override { return row_of(x_.values, row, c_); }
  Row expected(std::int64_t row) const override {
    return sum_of(start(row),
                  linear_of(row_of(hidden_.values, row, kWidening * c_), weights_.at("down")));
  }
  double operations() const override { return 2.0 * kWidening * static_cast<double>(n_ * c_ * c_); }
  double bytes() const override {
    return static_cast<double>(n_ * c_) *
               (2 * sizeof(float) + kWidening * static_cast<double>(tensor::bytes_of(operand_))) +
           weights_.bytes();
  }

 private:
  void read(tensor::Context& context, tensor::WeightTable& table) override {
    down_ = models::take_map(context, table, "block.down", c_, kWidening * c_, true);
  }

  const std::int64_t n_, c_;
  CaseTensor& hidden_ = add_operand({n_, kWidening* c_});
  CaseTensor& x_ = add_input({n_, c_});
  tensor::Linear down_;
};

class LayerNormCase final : public BlockCase {
 public:
  LayerNormCase(const Extents& extents, const CaseSettings& settings)
      : BlockCase(settings), n_(extents.n), c_(extents.c) {
    weights_.add_norm("norm", c_);
  }
  void run(const models::BlockContext& run) override {
    ops::AddLayerNorm op;
    op.x = x_.device;
    op.norm = norm_;
    op.out = out_.device;
    ops::add_layer_norm(run.context, op);
  }
  Tensor output() const override { return out_.device; }
  Row start(std::int64_t) const override { return {}; }
  Row expected(std::int64_t row) const override {
    return norm_of(row_of(x_.values, row, c_), weights_.at("norm"));
  }
  double operations() const override { return 8.0 * static_cast<double>(n_ * c_); }
  double bytes() const override { return 2 * sizeof(float) * static_cast<double>(n_ * c_); }

 private:
  void read(tensor::Context& context, tensor::WeightTable& table) override {
    norm_ = table.take_norm(context, "block.norm", c_, models::kNormEps);
  }

  const std::int64_t n_, c_;
  CaseTensor& x_ = add_input({n_, c_});
  CaseTensor& out_ = add_input({n_, c_});
  tensor::Norm norm_;
};

// Heads of 32 numbers whose queries and keys are rotated by their positions.
class RotaryAttentionCase final : public BlockCase {
 public:
  RotaryAttentionCase(const Extents& extents, const CaseSettings& settings)
      : BlockCase(settings), n_(extents.n), heads_(extents.c), c_(heads_.width()) {
    weights_.add_linear("qkv", 3 * c_, c_, 1.5f, true);
  }
  void run(const models::BlockContext& run) override {
    const auto scope = run.arena.scope();
    const Tensor qkv = take_operand(run, n_, 3 * c_);
    ops::QkvRotary op;
    op.x = x_.device;
    op.linear = &qkv_;
    op.n_heads = heads_.n_heads;
    if (has_rotary()) op.rotary = {rotary_.device};
    op.positions = segments_.positions;
    op.qkv = qkv;
    ops::qkv_rotary(run.context, op);
    const auto heads = [&](std::int64_t part) {
      return tensor::split_heads(qkv.slice(1, part * c_, (part + 1) * c_), heads_.n_heads);
    };
    const Tensor mixed = take_operand(run, n_, c_);
    const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(heads_.d_head)));
    ops::attention(run.context, {heads(0), heads(1), heads(2), scale, {}, &segments_, mixed, {}});
    ops::map(run.context, ops::map_copy(mixed, out_.device));
  }
  Tensor output() const override { return out_.device; }
  Row start(std::int64_t) const override { return {}; }
  Row expected(std::int64_t row) const override {
    std::vector<Row> k, v;
    for (std::int64_t j = 0; j < n_; ++j) {
      k.push_back(part_of(j, 1));
      v.push_back(part_of(j, 2));
    }
    const std::vector<Row> no_bias(static_cast<std::size_t>(n_),
                                   Row(static_cast<std::size_t>(heads_.n_heads)));
    return attended(part_of(row, 0), k, v, no_bias, static_cast<std::size_t>(heads_.n_heads));
  }
  double operations() const override {
    const double n = static_cast<double>(n_), c = static_cast<double>(c_);
    return 6 * n * c * c + 4 * n * n * c;
  }
  double bytes() const override {
    return static_cast<double>(n_ * c_) *
               (static_cast<double>(tensor::bytes_of(operand_)) + sizeof(float)) +
           weights_.bytes();
  }

 private:
  bool has_rotary() const { return heads_.d_head % 2 == 0; }
  void read(tensor::Context& context, tensor::WeightTable& table) override {
    qkv_ = models::take_map(context, table, "block.qkv", 3 * c_, c_, true);
    const std::size_t bytes = static_cast<std::size_t>(n_) * 16 + (1u << 16);
    tensor::Arena arena(context.allocate(bytes), bytes);
    segments_ = context.upload_ragged({0, static_cast<std::int32_t>(n_)}, arena);
  }
  // Angles as the table of the case holds them, which is fp32.
  std::vector<float> table() const {
    std::vector<float> values;
    const auto h = static_cast<double>(heads_.d_head);
    for (std::int64_t p = 0; p < n_; ++p)
      for (std::int64_t i = 0; i < heads_.d_head / 2 * 2; ++i) {
        const std::int64_t half = heads_.d_head / 2, at = i % half;
        const double angle =
            static_cast<double>(p) / std::pow(10000.0, 2 * static_cast<double>(at) / h);
        values.push_back(static_cast<float>(i < half ? std::cos(angle) : std::sin(angle)));
      }
    return values;
  }
  // q, k (rotated) or v of a token.
  Row part_of(std::int64_t token, std::int64_t part) const {
    const Row all = linear_of(row_of(x_.values, token, c_), weights_.at("qkv"));
    Row x(all.begin() + part * c_, all.begin() + (part + 1) * c_);
    const auto h = static_cast<std::size_t>(heads_.d_head), half = h / 2;
    if (part == 2 || !has_rotary()) return x;
    const float* const angles = rotary_.values.data() + static_cast<std::size_t>(token) * h;
    for (std::size_t begin = 0; begin < x.size(); begin += h)
      for (std::size_t i = 0; i < half; ++i) {
        const double a = x[begin + i], b = x[begin + half + i], cos = angles[i],
                     sin = angles[half + i];
        x[begin + i] = a * cos - b * sin;
        x[begin + half + i] = b * cos + a * sin;
      }
    return x;
  }

  const std::int64_t n_;
  const HeadShape heads_;
  const std::int64_t c_;
  CaseTensor& x_ = add_operand({n_, c_});
  CaseTensor& rotary_ = add_values({n_, heads_.d_head / 2 * 2}, table());
  CaseTensor& out_ = add_input({n_, c_});
  tensor::Linear qkv_;
  tensor::Ragged segments_;
};

template <class Case>
Block block_of(const char* name, const char* description) {
  return {name,
          "",
          description,
          {{256, 320}, {1024, 640}, {4096, 1280}},
          [](const Extents& extents, const CaseSettings& settings) {
            return std::make_unique<Case>(extents, settings);
          }};
}

}  // namespace

std::vector<Block> language() {
  return {block_of<LinearGeluCase>("linear-gelu", "a linear map with bias and GELU"),
          block_of<LinearResidualCase>("linear-residual", "a linear map with bias and residual"),
          block_of<LayerNormCase>("layer-norm", "layer norm"),
          block_of<RotaryAttentionCase>("rotary-attention",
                                        "queries, keys, values, rotary positions, attention")};
}

}  // namespace biogpu::lab
