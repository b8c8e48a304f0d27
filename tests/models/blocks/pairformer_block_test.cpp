// A Pairformer block (AlphaFold 3, as in Protenix) written in shared operations alone: no copy of a
// pair tensor in another order of its axes, and no new kernel.

#include "lib/ops/attention/dot_product_attention.hpp"
#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/gemm/matmul.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"
#include "lib/tensor/views.hpp"
#include "tests/models/blocks/block_bed.hpp"
#include "tests/models/blocks/pairformer_double.hpp"

using namespace biogpu;
using ops::MapCode;
using tensor::DType;
using tensor::permuted;
using tensor::split_axis;
using tensor::Tensor;
using tensor::transposed;
using test::BlockBed;
using test::Numbers;
using test::Pair;

namespace {

// Widths that are no multiples of 8, and numbers of heads that are no powers of two.
struct PairformerShape {
  std::int64_t c = 20, hidden = 12, n_heads = 3, h = 6;          // pairs
  std::int64_t c_single = 35, n_single_heads = 5, h_single = 7;  // tokens
};

void add_triangle_product(BlockBed& bed, const std::string& name, const PairformerShape& shape) {
  bed.add_norm(name + ".layer_norm_in", shape.c);
  for (const char* const side : {".linear_a_p", ".linear_a_g", ".linear_b_p", ".linear_b_g"})
    bed.add_linear(name + side, shape.hidden, shape.c, 1);
  bed.add_norm(name + ".layer_norm_out", shape.hidden);
  bed.add_linear(name + ".linear_z", shape.c, shape.hidden, 1);
  bed.add_linear(name + ".linear_g", shape.c, shape.c, 1);
}

// Queries and keys that make a few keys weigh most.
void add_heads(BlockBed& bed, const std::string& name, std::int64_t width, std::int64_t c,
               bool query_bias) {
  bed.add_linear(name + ".linear_q", width, c, 2, query_bias);
  bed.add_linear(name + ".linear_k", width, c, 2);
  bed.add_linear(name + ".linear_v", width, c, 1);
  bed.add_linear(name + ".linear_g", width, c, 1);
  bed.add_linear(name + ".linear_o", c, width, 2);
}

void add_transition(BlockBed& bed, const std::string& name, std::int64_t c) {
  bed.add_norm(name + ".layernorm1", c);
  bed.add_linear(name + ".linear_no_bias_a", 4 * c, c, 1);
  bed.add_linear(name + ".linear_no_bias_b", 4 * c, c, 1);
  bed.add_linear(name + ".linear_no_bias", c, 4 * c, 1);
}

void add_pairformer(BlockBed& bed, const PairformerShape& shape) {
  add_triangle_product(bed, "tri_mul_out", shape);
  add_triangle_product(bed, "tri_mul_in", shape);
  for (const std::string name : {"tri_att_start", "tri_att_end"}) {
    bed.add_norm(name + ".layer_norm", shape.c);
    bed.add_linear(name + ".linear", shape.n_heads, shape.c, 1);
    add_heads(bed, name + ".mha", shape.n_heads * shape.h, shape.c, false);
  }
  add_transition(bed, "pair_transition", shape.c);
  bed.add_norm("attention_pair_bias.layernorm_a", shape.c_single);
  bed.add_norm("attention_pair_bias.layernorm_z", shape.c);
  bed.add_linear("attention_pair_bias.linear_nobias_z", shape.n_single_heads, shape.c, 1);
  add_heads(bed, "attention_pair_bias.attention", shape.n_single_heads * shape.h_single,
            shape.c_single, true);
  add_transition(bed, "single_transition", shape.c_single);
}

class PairformerBlock {
 public:
  PairformerBlock(BlockBed& bed, const PairformerShape& shape, const Tensor& z, const Tensor& s,
                  const Tensor& mask)
      : bed_(bed),
        context_(bed.context()),
        arena_(bed.arena()),
        shape_(shape),
        n_(mask.shape[0]),
        z_(z),
        s_(s),
        mask_(mask) {}

  void triangle_product(const std::string& name, bool outgoing) {
    const auto scope = arena_.scope();
    const Tensor x = normalised(z_, name + ".layer_norm_in");
    const auto side = [&](const std::string& linear) {
      const Tensor out = product(x, linear + "_p"), by = product(x, linear + "_g");
      const Tensor seen(mask_.data, mask_.dtype, {n_ * n_, 1});
      ops::map(
          context_,
          ops::make_map({by, out, seen},
                        {{MapCode::sigmoid}, {MapCode::multiply, 1}, {MapCode::multiply, 2}}, out));
      return permuted(split_axis(out, 0, n_), {2, 0, 1});  // [hidden, n, n]
    };
    const Tensor a = side(name + ".linear_a"), b = side(name + ".linear_b");
    const Tensor sums = arena_.take(DType::f32, {n_ * n_, shape_.hidden});
    const Tensor by_channel = permuted(split_axis(sums, 0, n_), {2, 0, 1});
    if (outgoing) {
      ops::matmul(context_, {a, transposed(b), by_channel});
    } else {
      ops::matmul(context_, {transposed(a), b, by_channel});
    }
    const Tensor y = product(normalised(sums, name + ".layer_norm_out"), name + ".linear_z");
    ops::map(context_, ops::make_map({product(x, name + ".linear_g"), y, z_},
                                     {{MapCode::sigmoid}, {MapCode::multiply_add, 1, 2}}, z_));
  }

  // Rows i of pairs attend to themselves; for the ending node columns do, as views.
  void triangle_attention(const std::string& name, bool ending) {
    const auto scope = arena_.scope();
    const Tensor x = normalised(z_, name + ".layer_norm");
    const Tensor bias = split_axis(floats(x, name + ".linear"), 0, n_);  // [n, n, heads]
    ops::DotProductAttention op;
    op.bias = tensor::repeated(ending ? permuted(bias, {2, 1, 0}) : permuted(bias, {2, 0, 1}), 0);
    op.key_mask = ending ? transposed(mask_) : mask_;
    op.masked_value = -1e9f;
    const auto lines = [&](const Tensor& rows) {
      const Tensor all = split_axis(split_axis(rows, 1, shape_.h), 0, n_);
      return ending ? permuted(all, {1, 0, 2, 3}) : all;
    };
    attend(op, x, name + ".mha", shape_.h, lines, z_);
  }

  void transition(const std::string& name, const Tensor& to) {
    const auto scope = arena_.scope();
    const Tensor x = normalised(to, name + ".layernorm1");
    const Tensor a = product(x, name + ".linear_no_bias_a");
    ops::map(context_, ops::map_glu(MapCode::silu, a, product(x, name + ".linear_no_bias_b"), a));
    add_product(a, name + ".linear_no_bias", to);
  }

  void pair_bias_attention() {
    const auto scope = arena_.scope();
    const std::string name = "attention_pair_bias";
    const Tensor x = normalised(s_, name + ".layernorm_a");
    const Tensor bias = floats(normalised(z_, name + ".layernorm_z"), name + ".linear_nobias_z");
    ops::DotProductAttention op;
    op.bias = tensor::repeated(permuted(split_axis(bias, 0, n_), {2, 0, 1}), 0);
    const auto lines = [&](const Tensor& rows) {
      return split_axis(split_axis(rows, 1, shape_.h_single), 0, n_);
    };
    attend(op, x, name + ".attention", shape_.h_single, lines, s_);
  }

 private:
  Tensor normalised(const Tensor& x, const std::string& name) {
    const Tensor out = arena_.take(context_.compute_dtype(), {x.shape[0], x.shape[1]});
    ops::AddLayerNorm op;
    op.x = x;
    op.norm = bed_.norm(name);
    op.out_operand = out;
    ops::add_layer_norm(context_, op);
    return out;
  }
  Tensor product_as(DType type, const Tensor& x, const std::string& name) {
    const tensor::Linear& linear = bed_.linear(name);
    ops::Gemm op;
    op.x = x;
    op.linear = &linear;
    op.out = arena_.take(type, {x.shape[0], linear.n_out});
    ops::gemm(context_, op);
    return op.out;
  }
  Tensor product(const Tensor& x, const std::string& name) {
    return product_as(context_.compute_dtype(), x, name);
  }
  Tensor floats(const Tensor& x, const std::string& name) {
    return product_as(DType::f32, x, name);
  }
  void add_product(const Tensor& x, const std::string& name, const Tensor& to) {
    ops::gemm(context_, {x, &bed_.linear(name), ops::Activation::none, to, to});
  }
  // Gated heads of x, whose rows `lines` shows as [B, queries or keys, heads, h], added to `to`.
  template <class Lines>
  void attend(ops::DotProductAttention op, const Tensor& x, const std::string& name, std::int64_t h,
              const Lines& lines, const Tensor& to) {
    op.q = lines(product(x, name + ".linear_q"));
    op.k = lines(product(x, name + ".linear_k"));
    op.v = lines(product(x, name + ".linear_v"));
    op.scale = 1 / std::sqrt(static_cast<float>(h));
    const Tensor by = product(x, name + ".linear_g");
    const Tensor attended = arena_.take(by.dtype, {by.shape[0], by.shape[1]});
    op.out = lines(attended);
    ops::dot_product_attention(context_, op);
    ops::map(context_, ops::map_gate(by, attended, attended));
    add_product(attended, name + ".linear_o", to);
  }

  BlockBed& bed_;
  tensor::Context& context_;
  tensor::Arena& arena_;
  const PairformerShape shape_;
  const std::int64_t n_;
  const Tensor z_, s_, mask_;
};

// A quarter of the pairs, one row and one column are masked; all is seen where there is one token.
std::vector<float> pair_mask(std::int64_t n) {
  std::mt19937 random(5);
  std::vector<float> mask(static_cast<std::size_t>(n * n), 1);
  for (std::int64_t i = 0; n > 1 && i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      if (random() % 4 == 0 || i == 2 || j == n - 2) mask[static_cast<std::size_t>(i * n + j)] = 0;
  return mask;
}

// Part `part` of the block, or all of it in order: the same calls on the block and in double.
constexpr int kParts = 7;
template <class Block, class Rows>
void run_part(int part, Block& block, Rows& z, Rows& s) {
  switch (part) {
    case 0:
      return block.triangle_product("tri_mul_out", true);
    case 1:
      return block.triangle_product("tri_mul_in", false);
    case 2:
      return block.triangle_attention("tri_att_start", false);
    case 3:
      return block.triangle_attention("tri_att_end", true);
    case 4:
      return block.transition("pair_transition", z);
    case 5:
      return block.pair_bias_attention();
    default:
      return block.transition("single_transition", s);
  }
}

void compare_parts(BlockBed& bed, const PairformerShape& shape, std::int64_t n, int begin,
                   int end) {
  CAPTURE(n, begin, end);
  const Pair z = bed.bed().random({n * n, shape.c}, 1, false);
  const Pair s = bed.bed().random({n, shape.c_single}, 1, false);
  const Pair mask = bed.bed().pair({n, n}, pair_mask(n), false);
  PairformerBlock block(bed, shape, z.device, s.device, mask.device);
  test::PairformerInDouble right{static_cast<std::size_t>(n),
                                 static_cast<std::size_t>(shape.n_heads),
                                 static_cast<std::size_t>(shape.n_single_heads),
                                 bed.layers(),
                                 test::doubles(mask.values),
                                 test::doubles(z.values),
                                 test::doubles(s.values)};
  for (int part = begin; part < end; ++part) {
    run_part(part, block, z.device, s.device);
    run_part(part, right, right.z, right.s);
  }
  if (begin < 5) bed.check(z.device, z.values, right.z);
  if (end > 5) bed.check(s.device, s.values, right.s);
}

}  // namespace

TEST_CASE("models.pairformer_block: a block of any size equals a program in double precision") {
  BlockBed bed(GENERATE(from_range(test::subjects())));
  const PairformerShape shape;
  add_pairformer(bed, shape);
  for (const std::int64_t n : {1, 7, 16, 21}) compare_parts(bed, shape, n, 0, kParts);
}

TEST_CASE("models.pairformer_block: each part equals a program in double precision") {
  BlockBed bed(GENERATE(from_range(test::subjects())));
  const PairformerShape shape;
  add_pairformer(bed, shape);
  for (int part = 0; part < kParts; ++part) compare_parts(bed, shape, 9, part, part + 1);
}
