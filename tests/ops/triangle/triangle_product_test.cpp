#include "lib/ops/triangle/triangle_product.hpp"

#include "lib/core/error.hpp"
#include "tests/ops/op_bed.hpp"
#include "tests/ops/widths/sweep.hpp"

using namespace biogpu;
using test::Bed;
using test::DType;
using test::LinearPair;
using test::Pair;
using test::Tensor;

namespace {

struct Shape {
  std::int64_t n, c, d;
  bool operands = false;  // pairs as operands
  bool wide_out = false;  // and results in fp32
};

// Inputs of both contexts, with the norms' scales away from 1 and 0.
struct Inputs {
  Pair z, mask, out, weights[4];
  LinearPair projections, map_out;

  Inputs(Bed& bed, const Shape& shape)
      : z(bed.random({shape.n, shape.n, shape.c}, 1, shape.operands)),
        mask(bed.unset({shape.n, shape.n}, false)),
        out(bed.unset({shape.n * shape.n, shape.c}, shape.operands && !shape.wide_out)),
        projections(bed.linear(4 * shape.d + shape.c, shape.c)),
        map_out(bed.linear(shape.c, shape.d)) {
    for (std::size_t i = 0; i < 4; ++i) {
      Pair vector = bed.random({i < 2 ? shape.c : shape.d}, 0.3f, false);
      for (float& x : vector.values) x += i % 2 == 0 ? 1.0f : 0.0f;
      weights[i] = bed.pair({i < 2 ? shape.c : shape.d}, std::move(vector.values), false);
    }
    for (std::size_t i = 0; i < mask.values.size(); ++i) mask.values[i] = i % 5 == 2 ? 0.0f : 1.0f;
    mask = bed.pair({shape.n, shape.n}, std::move(mask.values), false);
  }

  ops::TriangleProduct op(bool on_device, bool has_mask) const {
    const auto of = [&](const Pair& pair) { return on_device ? pair.device : pair.host; };
    ops::TriangleProduct op;
    op.z = of(z);
    if (has_mask) op.mask = of(mask);
    op.norm_in = {of(weights[0]), of(weights[1]), 1e-5f};
    op.norm_out = {of(weights[2]), of(weights[3]), 1e-5f};
    op.projections = on_device ? &projections.device : &projections.host;
    op.map_out = on_device ? &map_out.device : &map_out.host;
    op.out = of(out);
    return op;
  }
  Tensor rows(const Pair& pair, bool on_device) const {
    const Tensor& of = on_device ? pair.device : pair.host;
    return {of.data, of.dtype, {of.shape[0] * of.shape[1], of.shape[2]}};
  }
};

Tensor workspace_of(Bed& bed, const Shape& shape) {
  const auto bytes = static_cast<std::int64_t>(
      ops::triangle_workspace(shape.n, shape.c, shape.d, bed.device().compute_dtype()));
  return {bed.device().allocate(static_cast<std::size_t>(bytes)), DType::f32, {bytes / 4}};
}

enum class Residual { none, other, in_place };

double difference(Bed& bed, const Shape& shape, bool outgoing, bool has_mask, Residual residual) {
  Inputs inputs(bed, shape);
  ops::TriangleProduct right = inputs.op(false, has_mask), op = inputs.op(true, has_mask);
  right.outgoing = op.outgoing = outgoing;
  op.workspace = workspace_of(bed, shape);
  if (residual != Residual::none) {
    right.residual = inputs.rows(inputs.z, false);
    op.residual = inputs.rows(inputs.z, true);
  }
  ops::triangle_product(bed.reference(), right);
  if (residual == Residual::in_place) op.out = inputs.rows(inputs.z, true);
  ops::triangle_product(bed.device(), op);
  const Tensor written = op.out;
  Pair compared = inputs.out;
  compared.device = written;
  compared.values.assign(inputs.out.values.begin(), inputs.out.values.end());
  const double apart = bed.difference(compared);
  bed.device().synchronize();
  bed.device().release(op.workspace.data);
  return apart;
}

const test::WidthSweepEntry kTriangleWidths("triangle_product", [](Bed& bed, std::int64_t width) {
  const Shape shape{5, width, width % 19 + 1};
  const Inputs inputs(bed, shape);
  const Tensor workspace = workspace_of(bed, shape);
  test::compare(bed, {{inputs.out, 2 * bed.operand_bound()}},
                [&](tensor::Context& context, const auto&) {
                  const bool on_device = &context == &bed.device();
                  ops::TriangleProduct op = inputs.op(on_device, true);
                  if (on_device) op.workspace = workspace;
                  op.outgoing = width % 2 == 0;
                  ops::triangle_product(context, op);
                });
  bed.device().release(workspace.data);
});

}  // namespace

TEST_CASE("ops.triangle_product: tokens and channels around tiles", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Shape shape = GENERATE(Shape{1, 8, 8}, Shape{2, 64, 64}, Shape{9, 64, 64, true},
                               Shape{17, 128, 128}, Shape{7, 24, 40});
  const bool outgoing = GENERATE(true, false);
  CAPTURE(shape.n, shape.c, shape.d, shape.operands, outgoing);
  CHECK(difference(bed, shape, outgoing, shape.n % 2 == 1, Residual::other) <
        2 * bed.operand_bound());
}

TEST_CASE("ops.triangle_product: wide channels, and several tiles of pairs", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Shape shape = GENERATE(Shape{12, 256, 256}, Shape{35, 64, 64}, Shape{20, 128, 128, true});
  CAPTURE(shape.n, shape.c);
  CHECK(difference(bed, shape, shape.c != 64, true, Residual::in_place) < 2 * bed.operand_bound());
}

TEST_CASE("ops.triangle_product: the update alone", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  for (const bool has_mask : {true, false})
    CHECK(difference(bed, {10, 64, 64}, true, has_mask, Residual::none) < 2 * bed.operand_bound());
}

TEST_CASE("ops.triangle_product: pairs as operands, results in fp32", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  for (const std::int64_t c : {16, 64})
    CHECK(difference(bed, {5, c, c, true, true}, true, true, Residual::none) <
          2 * bed.operand_bound());
}

TEST_CASE("ops.triangle_product: what does not fit is refused", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Shape shape{4, 8, 8};
  const Inputs inputs(bed, shape);
  ops::TriangleProduct op = inputs.op(true, true);
  op.workspace = workspace_of(bed, shape);
  CHECK_NOTHROW(ops::triangle_product(bed.device(), op));
  ops::TriangleProduct small = op;
  small.workspace.shape[0] = 64;
  CHECK_THROWS_AS(ops::triangle_product(bed.device(), small), Error);
  ops::TriangleProduct other = op;
  other.map_out = other.projections;
  CHECK_THROWS_AS(ops::triangle_product(bed.device(), other), Error);
  bed.device().synchronize();
}
