#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/message_passing/edge_product_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/message_passing/edge_product.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

// [d, n_rows]: what the weights of an output multiply.
void turn_features(const EdgeProduct& op, const EdgePaths::Output& to, std::int64_t e,
                   float* rows) {
  const float* const x = op.x.row<float>(op.sources.as<std::int32_t>()[e]);
  for (std::int32_t p = to.first_path; p < to.first_path + to.n_paths; ++p) {
    const EdgePaths::Path& path = op.paths->paths[static_cast<std::size_t>(p)];
    const float* const turns = op.turns.row<float>(e) + path.turn;
    for (std::int32_t u = 0; u < path.n; ++u) {
      const float* const copy = x + path.begin + u * path.d;
      for (std::int32_t k = 0; k < to.d; ++k) {
        float sum = 0;
        for (std::int32_t i = 0; i < path.d; ++i) sum += copy[i] * turns[i * to.d + k];
        rows[k * to.n_rows + path.row + u] = sum;
      }
    }
  }
}

// Vectors of copies stay in registers through all rows, for one of the d numbers at a time.
void write_output(const EdgeProduct& op, const EdgePaths::Output& to, std::int64_t e,
                  const float* rows, float* copies) {
  const F32 f32;
  const float* const weights = op.weights.row<float>(e) + to.weights;
  float* const out = op.out.row<float>(e) + to.begin;
  for (std::int32_t k = 0; k < to.d; ++k) {
    for_vectors(to.n, [&](std::int64_t v, std::size_t n) HWY_ATTR {
      Vec sum = hn::Zero(f32);
      for (std::int64_t u = 0; u < to.n_rows; ++u)
        sum = hn::MulAdd(hn::Set(f32, rows[k * to.n_rows + u]),
                         load_first(weights + u * to.n + v, n), sum);
      store_first(sum, n, copies + v);
    });
    for (std::int32_t v = 0; v < to.n; ++v) out[v * to.d + k] = copies[v];
  }
}

void multiply_edge(const EdgeProduct& op, std::int64_t e, float* scratch) {
  for (std::int32_t o = 0; o < op.paths->n_outputs; ++o) {
    const EdgePaths::Output& to = op.paths->outputs[static_cast<std::size_t>(o)];
    float* const copies = scratch + static_cast<std::int64_t>(to.d) * to.n_rows;
    turn_features(op, to, e, scratch);
    write_output(op, to, e, scratch, copies);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <string>

#include "lib/core/error.hpp"

namespace biogpu::ops {

HWY_EXPORT(multiply_edge);

void check(const EdgeProduct& op) {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw Error(ErrorCode::failed, std::string("edge_product: ") + what);
  };
  const EdgePaths& all = *op.paths;
  require(all.n_paths >= 0 && all.n_paths <= EdgePaths::kMaxPaths && all.n_outputs >= 0 &&
              all.n_outputs <= EdgePaths::kMaxOutputs,
          "too many paths or outputs");
  const std::int64_t n_edges = op.out.shape[0];
  require(op.sources.shape[0] == n_edges && op.turns.shape[0] == n_edges &&
              op.weights.shape[0] == n_edges,
          "other numbers of edges");
  for (std::int32_t o = 0; o < all.n_outputs; ++o) {
    const EdgePaths::Output& to = all.outputs[static_cast<std::size_t>(o)];
    require(to.d >= 1 && to.d <= EdgePaths::kMaxOrder && to.n >= 0 && to.n_rows >= 0,
            "an output of a wrong size");
    require(to.begin >= 0 && to.begin + to.n * to.d <= op.out.shape[1] && to.weights >= 0 &&
                to.weights + static_cast<std::int64_t>(to.n_rows) * to.n <= op.weights.shape[1],
            "an output reaches behind its tensors");
    require(to.first_path >= 0 && to.n_paths >= 0 && to.first_path + to.n_paths <= all.n_paths,
            "an output has paths that there are not");
    std::int32_t row = 0;
    for (std::int32_t p = to.first_path; p < to.first_path + to.n_paths; ++p) {
      const EdgePaths::Path& path = all.paths[static_cast<std::size_t>(p)];
      require(path.n >= 0 && path.d >= 1 && path.row == row, "rows of paths leave a gap");
      require(path.begin >= 0 && path.begin + path.n * path.d <= op.x.shape[1] && path.turn >= 0 &&
                  path.turn + path.d * to.d <= op.turns.shape[1],
              "a path reaches behind its tensors");
      row += path.n;
    }
    require(row == to.n_rows, "rows without a path");
  }
}

void edge_product_cpu(CpuContext& context, const EdgeProduct& op) {
  std::int64_t n_scratch = 0;
  for (std::int32_t o = 0; o < op.paths->n_outputs; ++o) {
    const EdgePaths::Output& to = op.paths->outputs[static_cast<std::size_t>(o)];
    n_scratch = std::max(n_scratch, static_cast<std::int64_t>(to.d) * to.n_rows + to.n);
  }
  context.for_rows(op.out.shape[0], [&](std::int64_t e, std::int64_t end) {
    float* const scratch = context.scratch().reserve(n_scratch);
    for (; e < end; ++e) HWY_DYNAMIC_DISPATCH(multiply_edge)(op, e, scratch);
  });
}

}  // namespace biogpu::ops
#endif
