// Blocks and patch merging of a Swin Transformer written in shared operations alone: windows are
// rows that a gather brings together, the shift's mask is part of the bias.

#include "lib/ops/attention/dot_product_attention.hpp"
#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/gather/permute.hpp"
#include "lib/ops/gather/windows.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"
#include "lib/tensor/views.hpp"
#include "tests/models/blocks/block_bed.hpp"
#include "tests/models/blocks/swin_double.hpp"

using namespace biogpu;
using ops::Activation;
using tensor::DType;
using tensor::permuted;
using tensor::split_axis;
using tensor::Tensor;
using test::BlockBed;
using test::Pair;

namespace {

constexpr std::int64_t kSwinHeads = 3, kSwinHead = 7, kSwinWidth = kSwinHeads * kSwinHead;
constexpr float kShiftMask = -100;

void add_swin_block(BlockBed& bed, const std::string& name, std::int64_t window) {
  bed.add_norm(name + ".norm1", kSwinWidth);
  bed.add_linear(name + ".attn.qkv", 3 * kSwinWidth, kSwinWidth, 2, true);
  bed.add_table(name + ".attn.relative_position_bias_table", (2 * window - 1) * (2 * window - 1),
                kSwinHeads);
  bed.add_linear(name + ".attn.proj", kSwinWidth, kSwinWidth, 1, true);
  bed.add_norm(name + ".norm2", kSwinWidth);
  bed.add_linear(name + ".mlp.fc1", 4 * kSwinWidth, kSwinWidth, 1, true);
  bed.add_linear(name + ".mlp.fc2", kSwinWidth, 4 * kSwinWidth, 1, true);
}

void add_merging(BlockBed& bed) {
  bed.add_norm("downsample.norm", 4 * kSwinWidth);
  bed.add_linear("downsample.reduction", 2 * kSwinWidth, 4 * kSwinWidth, 1);
}

// Rows of the table of relative positions for two places of a window, [n, n].
std::vector<std::int32_t> relative_rows(std::int64_t window) {
  const std::int64_t n = window * window;
  std::vector<std::int32_t> rows;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      rows.push_back(
          static_cast<std::int32_t>((i / window - j / window + window - 1) * (2 * window - 1) +
                                    (i % window - j % window + window - 1)));
  return rows;
}

class SwinStage {
 public:
  SwinStage(BlockBed& bed, const ops::ImageGrid& grid, const Tensor& x)
      : bed_(bed), context_(bed.context()), arena_(bed.arena()), grid_(grid), x_(x) {}

  void block(const std::string& name, std::int64_t window, std::int64_t shift) {
    const auto scope = arena_.scope();
    const ops::ImageWindows windows{grid_, window, shift};
    const std::int64_t n = window * window;
    const Tensor rows = gathered(normalised(x_, name + ".norm1"), ops::window_rows(windows));
    const Tensor qkv = product(rows, name + ".attn.qkv", context_.compute_dtype());
    const Tensor attended = operand(rows.shape[0], kSwinWidth);
    // [windows, n, heads, numbers of a head]
    const auto by_window = [&](const Tensor& of) {
      return split_axis(split_axis(of, 1, kSwinHead), 0, n);
    };
    const auto part = [&](std::int64_t i) {
      return by_window(qkv.slice(1, i * kSwinWidth, (i + 1) * kSwinWidth));
    };
    ops::DotProductAttention op;
    op.q = part(0);
    op.k = part(1);
    op.v = part(2);
    op.scale = 1 / std::sqrt(static_cast<float>(kSwinHead));
    op.bias = bias_of(name, windows);
    op.out = by_window(attended);
    ops::dot_product_attention(context_, op);
    const Tensor back = gathered(attended, ops::window_places(windows));
    add_product(back, name + ".attn.proj");
    const Tensor up = product(normalised(x_, name + ".norm2"), name + ".mlp.fc1",
                              context_.compute_dtype(), Activation::gelu_erf);
    add_product(up, name + ".mlp.fc2");
  }

  // f32 [merged tokens, 2 channels], in the arena.
  Tensor merged() {
    const Tensor rows = gathered(x_, ops::merged_patch_rows(grid_));
    const Tensor four(rows.data, rows.dtype, {rows.shape[0] / 4, 4 * kSwinWidth});
    return product(normalised(four, "downsample.norm"), "downsample.reduction", DType::f32);
  }

 private:
  Tensor operand(std::int64_t n_rows, std::int64_t n_columns) {
    return arena_.take(context_.compute_dtype(), {n_rows, n_columns});
  }
  // A tensor of x's type.
  Tensor gathered(const Tensor& x, const std::vector<std::int32_t>& rows) {
    const Tensor out = arena_.take(x.dtype, {static_cast<std::int64_t>(rows.size()), x.shape[1]});
    ops::gather_rows(context_, {x, bed_.bed().indices(rows).device, out});
    return out;
  }
  Tensor normalised(const Tensor& x, const std::string& name) {
    ops::AddLayerNorm op;
    op.x = x;
    op.norm = bed_.norm(name);
    op.out_operand = operand(x.shape[0], x.shape[1]);
    ops::add_layer_norm(context_, op);
    return op.out_operand;
  }
  Tensor product(const Tensor& x, const std::string& name, DType type,
                 Activation activation = Activation::none) {
    const tensor::Linear& linear = bed_.linear(name);
    const Tensor out = arena_.take(type, {x.shape[0], linear.n_out});
    ops::gemm(context_, {x, &linear, activation, {}, out});
    return out;
  }
  void add_product(const Tensor& x, const std::string& name) {
    ops::gemm(context_, {x, &bed_.linear(name), Activation::none, x_, x_});
  }
  // [1 or windows of an image, heads, n, n]; a model makes it once.
  Tensor bias_of(const std::string& name, const ops::ImageWindows& windows) {
    const std::int64_t n = windows.size * windows.size;
    const Tensor rows = gathered(bed_.table(name + ".attn.relative_position_bias_table"),
                                 relative_rows(windows.size));
    const Tensor by_head = permuted(split_axis(rows, 0, n), {2, 0, 1});
    if (windows.shift == 0) return tensor::repeated(by_head, 0);
    const std::int64_t n_windows = windows.down() * windows.across();
    const Tensor table = arena_.take(DType::f32, {kSwinHeads, n, n});
    const Tensor bias = arena_.take(DType::f32, {n_windows, kSwinHeads, n, n});
    ops::permute(context_, {by_head, table});
    const Pair mask =
        bed_.bed().pair({n_windows, 1, n, n}, ops::window_mask(windows, kShiftMask), false);
    ops::map(context_, ops::map_add(mask.device, table, bias));
    return bias;
  }

  BlockBed& bed_;
  tensor::Context& context_;
  tensor::Arena& arena_;
  const ops::ImageGrid grid_;
  const Tensor x_;
};

// Two blocks, of which the second is shifted, and the merging behind them.
void compare_stage(BlockBed& bed, const ops::ImageGrid& grid, std::int64_t window) {
  CAPTURE(grid.height, grid.width, window);
  const auto scope = bed.arena().scope();
  const Pair x = bed.bed().random({grid.n_images * grid.height * grid.width, kSwinWidth}, 1, false);
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  test::SwinInDouble right{size(grid.n_images),    size(grid.height), size(grid.width),
                           size(kSwinHeads),       size(window),      bed.layers(),
                           test::doubles(x.values)};
  SwinStage stage(bed, grid, x.device);
  stage.block("blocks.0", window, 0);
  right.block("blocks.0", 0);
  bed.check(x.device, x.values, right.x);
  stage.block("blocks.1", window, window / 2);
  right.block("blocks.1", size(window / 2));
  bed.check(x.device, x.values, right.x);
  right.merge("downsample");
  bed.check(stage.merged(), {}, right.x);
}

void compare_windows(const test::Subject& subject, std::int64_t window,
                     const std::vector<ops::ImageGrid>& grids) {
  BlockBed bed(subject);
  add_swin_block(bed, "blocks.0", window);
  add_swin_block(bed, "blocks.1", window);
  add_merging(bed);
  for (const ops::ImageGrid& grid : grids) compare_stage(bed, grid, window);
}

}  // namespace

// One window that the shift divides in four, as in MolScribe's last stage, is among them.
TEST_CASE("models.swin_block: whole windows equal a program in double precision") {
  compare_windows(GENERATE(from_range(test::subjects())), 4, {{2, 8, 12}, {1, 4, 4}});
}

TEST_CASE("models.swin_block: padded windows equal a program in double precision") {
  const test::Subject subject = GENERATE(from_range(test::subjects()));
  compare_windows(subject, 4, {{2, 9, 10}, {1, 1, 1}});
  compare_windows(subject, 3, {{1, 7, 5}});
}
