#include "lib/ops/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "lib/core/error.hpp"

namespace biogpu::ops {
namespace {

void require(bool holds, const char* operation, const std::string& what) {
  if (!holds) throw Error(ErrorCode::failed, fmt::format("{}: {}", operation, what));
}

void check_shared_heads(const char* operation, std::int64_t n_heads, std::int64_t n_key_heads) {
  require(n_key_heads > 0 && n_heads % n_key_heads == 0, operation,
          fmt::format("{} query heads and {} key heads; expected a multiple of them", n_heads,
                      n_key_heads));
}

void check_rotated(const char* operation, std::int64_t n_rotated, std::int64_t head) {
  require(n_rotated % 2 == 0 && n_rotated <= head, operation,
          fmt::format("{} numbers of a head of {} are rotated; expected an even number up to it",
                      n_rotated, head));
}

void check_taps(const char* operation, std::int64_t taps) {
  require(taps % 2 == 1, operation, fmt::format("{} taps; expected an odd number", taps));
}

// Views may have any strides, but no number may be written twice.
void check_written_once(const char* operation, const Tensor& out) {
  for (int axis = 0; axis < out.rank; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    require(out.shape[a] <= 1 || out.stride[a] > 0, operation,
            fmt::format("a result with a stride of {} along axis {}", out.stride[a], axis));
  }
}

// An input of map that is the memory of out must lie there number for number.
void check_map_input(const MapInput& input, const Tensor& out) {
  const Tensor& x = input.x;
  bool fits = x.rank >= 1 && x.rank <= out.rank;
  for (int i = 0; fits && i < x.rank; ++i) {
    const std::int64_t own = x.shape[static_cast<std::size_t>(i)],
                       wanted = out.shape[static_cast<std::size_t>(out.rank - x.rank + i)];
    const bool shorter = input.zeros_behind && i == x.rank - 1 && own <= wanted;
    fits = own == wanted || own == 1 || shorter;
  }
  require(fits, "map",
          fmt::format("an input of {} for a result of {}", describe(x), describe(out)));
  const auto last = static_cast<std::size_t>(x.rank - 1);
  require(x.shape[last] <= 1 || x.stride[last] == 1, "map",
          fmt::format("{} whose last axis has a stride of {}; expected 1", describe(x),
                      x.stride[last]));
  require(x.data == nullptr || x.data != out.data ||
              (x.dtype == out.dtype && x.rank == out.rank && x.shape == out.shape &&
               x.stride == out.stride),
          "map", fmt::format("{} in the memory of {}", describe(x), describe(out)));
}

// Whether an operand is a slot that an input or a step before has filled.
bool has_slot(std::uint8_t slot, const Map& op, const bool (&kept)[2]) {
  if (slot < Map::kMaxInputs) return slot < op.n_inputs;
  return slot >= Map::kNumber ? slot <= Map::kCurrent : kept[slot - Map::kKept];
}

int count_operands(MapCode code) {
  if (code >= MapCode::sigmoid) return 0;
  return code == MapCode::multiply_add || code == MapCode::select ? 2 : 1;
}

bool is_float(DType type) {
  return type == DType::f32 || type == DType::f16 || type == DType::bf16;
}

void check_f32(const char* operation, std::initializer_list<const Tensor*> tensors) {
  for (const Tensor* const x : tensors)
    require(x->empty() || x->dtype == DType::f32, operation,
            fmt::format("{} on the CPU; expected f32", describe(*x)));
}

// bias [P, H or 1, I or 1, J or 1], the last two axes in blocks.
void check_bias(const DotProductAttention& op) {
  if (op.bias.empty()) return;
  require(op.bias_block > 0, "dot_product_attention",
          fmt::format("a bias_block of {}; expected 1 or more", op.bias_block));
  const auto blocks = [&](std::int64_t n) { return (n + op.bias_block - 1) / op.bias_block; };
  const std::int64_t wanted[] = {op.bias.shape[0], op.q.shape[2], blocks(op.q.shape[1]),
                                 blocks(op.k.shape[1])};
  require(op.bias.dtype == DType::f32 || op.bias.dtype == op.q.dtype, "dot_product_attention",
          fmt::format("a bias {}; expected f32 or the type of q {}", describe(op.bias),
                      describe(op.q)));
  bool fits = op.bias.rank == 4 && op.bias.shape[0] > 0 && op.q.shape[0] % op.bias.shape[0] == 0;
  for (std::size_t axis = 1; axis < 4; ++axis)
    fits = fits && (op.bias.shape[axis] == 1 || op.bias.shape[axis] == wanted[axis]);
  require(fits, "dot_product_attention",
          fmt::format("a bias of {}; expected {} with a divisor of {} in front, or 1 for an axis",
                      describe(op.bias), tensor::describe_shape(wanted, 4), op.q.shape[0]));
}

}  // namespace

void check(const Map& op) {
  require(op.n_inputs >= 1 && op.n_inputs <= Map::kMaxInputs && op.n_steps <= Map::kMaxSteps, "map",
          fmt::format("{} inputs and {} steps; expected 1 to {} and up to {}", op.n_inputs,
                      op.n_steps, Map::kMaxInputs, Map::kMaxSteps));
  const auto last = static_cast<std::size_t>(op.out.rank - 1);
  require(op.out.rank >= 1 && (op.out.shape[last] <= 1 || op.out.stride[last] == 1), "map",
          "a result whose last axis is not contiguous");
  bool floats = is_float(op.out.dtype);
  for (int k = 0; k < op.n_inputs; ++k) {
    const MapInput& input = op.inputs[static_cast<std::size_t>(k)];
    check_map_input(input, op.out);
    floats &= is_float(input.x.dtype);
  }
  require(floats, "map", "tensors of a type other than f32, f16 and bf16");
  check_written_once("map", op.out);
  bool kept[2] = {};
  for (int s = 0; s < op.n_steps; ++s) {
    const MapStep& step = op.steps[static_cast<std::size_t>(s)];
    bool holds = true;
    if (step.code == MapCode::keep) {
      holds = step.b == Map::kKept || step.b == Map::kKept + 1;
      if (holds) kept[step.b - Map::kKept] = true;
    } else {
      const int n = count_operands(step.code);
      holds = (n < 1 || has_slot(step.b, op, kept)) && (n < 2 || has_slot(step.c, op, kept));
    }
    require(holds, "map", fmt::format("step {} names a slot that nothing has filled", s));
  }
}

void check(const Eigen3& op) {
  for (const Tensor* const rows : {&op.x, &op.vectors})
    require(rows->empty() || (rows->stride[1] == 3 && rows->stride[2] == 1), "eigen3",
            "matrices that are not contiguous");
}

void check(const Sample& op) {
  require(op.temperature > 0, "sample",
          fmt::format("a temperature of {}; expected a positive number", op.temperature));
}

void check(const Softmax& op) {
  require(op.axis >= 0 && op.axis < op.x.rank, "softmax",
          fmt::format("axis {} of {}", op.axis, describe(op.x)));
  require(op.out.rank == op.x.rank && op.out.shape == op.x.shape, "softmax",
          fmt::format("a result of {} for {}", describe(op.out), describe(op.x)));
  require(is_float(op.x.dtype) && is_float(op.out.dtype), "softmax",
          fmt::format("{} to {}; expected f32, f16 or bf16", describe(op.x), describe(op.out)));
  check_written_once("softmax", op.out);
  bool fits = op.mask.rank <= op.x.rank;
  for (int i = 0; fits && i < op.mask.rank; ++i) {
    const std::int64_t own = op.mask.shape[static_cast<std::size_t>(i)];
    fits = own == 1 || own == op.x.shape[static_cast<std::size_t>(op.x.rank - op.mask.rank + i)];
  }
  require(fits && (op.mask.empty() || op.mask.dtype == DType::u8 || op.mask.dtype == DType::f32),
          "softmax", fmt::format("a mask of {} for {}", describe(op.mask), describe(op.x)));
}

void check(const AddLayerNorm& op) {
  const std::int64_t d = op.x.shape[1];
  require(op.n_groups >= 1 && d % op.n_groups == 0, "add_layer_norm",
          fmt::format("{} groups of {} columns; expected a divisor", op.n_groups, d));
  for (const Tensor* const columns : {&op.norm.weight, &op.norm.bias})
    require(columns->empty() || columns->size() == d, "add_layer_norm",
            fmt::format("a weight or bias of {} for {} columns", columns->size(), d));
}

void check(const LayerNormGrad& op) {
  require(op.norm.weight.size() == op.x.shape[1], "layer_norm_grad",
          fmt::format("a weight of {} for {} columns", op.norm.weight.size(), op.x.shape[1]));
}

void check(const Attention& op) { check_shared_heads("attention", op.q.shape[1], op.k.shape[1]); }

void check(const CrossAttention& op) {
  check_shared_heads("cross_attention", op.q.shape[1], op.k.shape[1]);
}

void check(const DotProductAttention& op) {
  const char* const name = "dot_product_attention";
  require(op.q.rank == 4 && op.k.rank == 4 && op.v.rank == 4 && op.out.rank == 4, name,
          "expected q, k, v and out of four axes");
  const auto& q = op.q.shape;
  const auto& k = op.k.shape;
  const auto& v = op.v.shape;
  check_shared_heads(name, q[2], k[2]);
  require(k[0] == q[0] && k[3] == q[3] && v[0] == q[0] && v[1] == k[1] && v[2] == k[2], name,
          fmt::format("q {}, k {}, v {}; expected [B, I, H, h], [B, J, G, h], [B, J, G, h_v]",
                      describe(op.q), describe(op.k), describe(op.v)));
  const std::int64_t out[] = {q[0], q[1], q[2], v[3]};
  require(std::equal(out, out + 4, op.out.shape.begin()), name,
          fmt::format("out {}; expected {}", describe(op.out), tensor::describe_shape(out, 4)));
  check_bias(op);
  if (!op.key_lengths.empty())
    require(op.key_lengths.rank == 1 && op.key_lengths.shape[0] == q[0] &&
                op.key_lengths.dtype == DType::i32,
            name, fmt::format("key_lengths {}; expected i32 [{}]", describe(op.key_lengths), q[0]));
  for (const Tensor* const x : {&op.k, &op.v, &op.out})
    require(x->dtype == op.q.dtype, name,
            fmt::format("{} with q {}; expected one type", describe(*x), describe(op.q)));
  for (const Tensor* const x : {&op.q, &op.k, &op.v, &op.out})
    require(x->stride[3] == 1 || x->shape[3] <= 1, name,
            fmt::format("{} whose last axis has a stride of {}; expected 1", describe(*x),
                        x->stride[3]));
  const Tensor& logs = op.log_sum_exp;
  if (!logs.empty())
    require(logs.rank == 3 && logs.dtype == DType::f32 && logs.shape[0] == q[0] &&
                logs.shape[1] == q[2] && logs.shape[2] == q[1] &&
                (logs.stride[2] == 1 || logs.shape[2] <= 1),
            name,
            fmt::format("log_sum_exp {}; expected f32 [{}, {}, {}], the last axis contiguous",
                        describe(logs), q[0], q[2], q[1]));
  if (op.key_mask.empty()) return;
  const Tensor& mask = op.key_mask;
  require(mask.rank == 2 && (mask.shape[0] == q[0] || mask.shape[0] == 1) &&
              mask.shape[1] == k[1] && (mask.dtype == DType::u8 || mask.dtype == DType::f32),
          name,
          fmt::format("key_mask {}; expected u8 or f32 [{} or 1, {}]", describe(mask), q[0], k[1]));
}

void check(const QkvRotary& op) {
  if (op.rotary.cos_sin.empty()) return;
  check_rotated("qkv_rotary", op.rotary.cos_sin.shape[1], op.linear->n_out / 3 / op.n_heads);
}

void check(const RotateHeads& op) {
  check_rotated("rotate_heads", op.rotary.cos_sin.shape[1], op.x.shape[2]);
}

void check(const Conv1d& op) { check_taps("conv1d", op.taps); }

void check(const Conv1dLetters& op) { check_taps("conv1d_letters", op.table.shape[0]); }

void check(const Permute& op) {
  const bool same_shape = op.x.rank == op.out.rank && op.x.shape == op.out.shape;
  require(op.x.rank >= 1 && same_shape, "permute",
          fmt::format("{} to {}; expected one shape", describe(op.x), describe(op.out)));
  require(op.x.dtype == op.out.dtype || (is_float(op.x.dtype) && is_float(op.out.dtype)), "permute",
          fmt::format("{} to {}; f32, f16 and bf16 alone become another type",
                      tensor::name_of(op.x.dtype), tensor::name_of(op.out.dtype)));
  check_written_once("permute", op.out);
}

void check(const Matmul& op) {
  const int rank = op.y.rank;
  const auto shapes = [&] {
    return fmt::format("{} by {} to {}", describe(op.a), describe(op.b), describe(op.y));
  };
  require(rank >= 2 && op.a.rank == rank && op.b.rank == rank, "matmul",
          fmt::format("{}; expected 2 to 5 axes of all three", shapes()));
  const auto row = static_cast<std::size_t>(rank) - 2, column = row + 1;
  bool fits = op.a.shape[row] == op.y.shape[row] && op.a.shape[column] == op.b.shape[row] &&
              op.b.shape[column] == op.y.shape[column];
  const auto spreads = [](std::int64_t n, std::int64_t to) { return n == to || n == 1; };
  for (std::size_t i = 0; i < row; ++i)
    fits = fits && spreads(op.a.shape[i], op.y.shape[i]) && spreads(op.b.shape[i], op.y.shape[i]);
  require(fits, "matmul",
          fmt::format("{}; expected [..., M, K] by [..., K, N] to [..., M, N]", shapes()));
  require(op.a.dtype == op.b.dtype && is_float(op.a.dtype) && is_float(op.y.dtype), "matmul",
          fmt::format("{}; expected f32, f16 or bf16, a and b of one type", shapes()));
  require(op.y.data == nullptr || (op.y.data != op.a.data && op.y.data != op.b.data), "matmul",
          "the result is in the memory of an operand; expected other memory");
  check_written_once("matmul", op.y);
}

void check(const Gemm& op) {
  require(op.linear != nullptr, "gemm", "no weights");
  const std::int64_t n_in = op.linear->n_in, n_out = op.linear->n_out;
  const auto fits = [&](const Tensor& rows, std::int64_t width) {
    return rows.rank == 2 && rows.shape[0] == op.x.shape[0] && rows.shape[1] == width &&
           (rows.stride[1] == 1 || width <= 1) &&
           (is_float(rows.dtype) || rows.dtype == DType::f64);
  };
  require(fits(op.x, n_in) && fits(op.out, n_out), "gemm",
          fmt::format("{} to {}; expected [R, {}] to [R, {}], rows contiguous", describe(op.x),
                      describe(op.out), n_in, n_out));
  if (op.residual.empty()) return;
  require(fits(op.residual, n_out) && op.residual.dtype == op.out.dtype, "gemm",
          fmt::format("a residual of {} for {}; expected its shape and type", describe(op.residual),
                      describe(op.out)));
  require(op.activation == Activation::none, "gemm", "a residual behind an activation");
}

void check(const GatherRows& op) {
  require(
      op.more.empty() || (!op.rows.empty() && op.more.dtype == op.x.dtype &&
                          op.more.shape[1] == op.x.shape[1] && op.more.stride[0] == op.x.stride[0]),
      "gather_rows", fmt::format("{} behind {}", describe(op.more), describe(op.x)));
}

void check(const TriangleProduct& op) {
  const char* const name = "triangle_product";
  require(op.projections != nullptr && op.map_out != nullptr, name, "no weights");
  const std::int64_t n = op.z.shape[0], c = op.z.shape[2], d = op.map_out->n_in;
  require(op.z.rank == 3 && op.z.shape[1] == n && op.z.contiguous() && is_float(op.z.dtype), name,
          fmt::format("{}; expected contiguous pairs [N, N, C]", describe(op.z)));
  require(op.mask.empty() || (op.mask.rank == 2 && op.mask.shape[0] == n && op.mask.shape[1] == n &&
                              op.mask.contiguous() && op.mask.dtype == DType::f32),
          name, fmt::format("a mask of {}; expected contiguous f32 [N, N]", describe(op.mask)));
  require(op.projections->n_in == c && op.projections->n_out == 4 * d + c && op.map_out->n_out == c,
          name,
          fmt::format("maps of {} to {} and {} to {} for {} channels", op.projections->n_in,
                      op.projections->n_out, d, op.map_out->n_out, c));
  const auto fits = [&](const Tensor& rows) {
    return rows.rank == 2 && rows.shape[0] == n * n && rows.shape[1] == c &&
           (rows.stride[1] == 1 || c <= 1) && rows.dtype == op.out.dtype;
  };
  require(fits(op.out) && is_float(op.out.dtype) && (op.residual.empty() || fits(op.residual)),
          name,
          fmt::format("a residual of {} to {}; expected rows of pairs of one type",
                      describe(op.residual), describe(op.out)));
}

void check_on_host(const DotProductAttention& op) {
  check_f32("dot_product_attention", {&op.q, &op.bias});
}

// Weights of the reference are f32 or f64, those of the CPU are packed.
void check_on_host(const Gemm& op) {
  const DType real = op.linear->weight.dtype;
  for (const Tensor* const rows : {&op.x, &op.residual, &op.out})
    require(rows->empty() || rows->dtype == real, "gemm",
            fmt::format("{} on the CPU; expected {}", describe(*rows), tensor::name_of(real)));
}

void check_on_host(const Map& op) {
  check_f32("map", {&op.out});
  for (int k = 0; k < op.n_inputs; ++k)
    check_f32("map", {&op.inputs[static_cast<std::size_t>(k)].x});
}

void check_on_host(const Softmax& op) { check_f32("softmax", {&op.x, &op.out}); }

}  // namespace biogpu::ops
