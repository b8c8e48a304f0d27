#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/models/structure/block_parts.hpp"

// Blocks of the diffusion module, whose tokens or atoms are conditioned on others (Abramson et al.
// 2024, doi 10.1038/s41586-024-07487-w, supplement, algorithms 7, 24, 25 and 26).
namespace biogpu::models {

struct DiffusionShape {
  std::int64_t c = 768;       // of tokens
  std::int64_t c_cond = 384;  // of what they are conditioned on
  std::int64_t c_pair = 128;
  std::int64_t n_heads = 16;  // divides c
  std::int64_t n_transition = 2;
};

// n = norm(s), without an offset; sigmoid(gate n) norm(a) + shift n, the norm of a without both.
struct AdaptiveNorm {
  tensor::Norm norm;
  tensor::Linear gate, shift;
};

// a += sigmoid(last s) out(heads of AdaptiveNorm(a, s)), with a bias of pairs.
struct ConditionedAttention {
  AdaptiveNorm norm;
  tensor::Norm norm_pair;  // without an offset in AlphaFold 3
  tensor::Linear bias;
  GatedHeads heads;
  tensor::Linear last;
};

// a += sigmoid(gate s) down(silu(x) y), where x and y are halves of up(AdaptiveNorm(a, s)). In
// Boltz-2 thirds, x, y and w: down(silu(x) y w).
struct ConditionedTransition {
  AdaptiveNorm norm;
  tensor::Linear up, down, gate;
};

// Atoms in windows: 32 queries see the 128 atoms around them, with a bias of their pairs.
struct WindowAttention {
  tensor::Norm norm, norm_pair;
  tensor::Linear bias;
  GatedHeads heads;
};
inline constexpr std::int64_t kWindowQueries = 32, kWindowKeys = 128;

// Under the names of Protenix; the norm of pairs with an offset, and linear_nobias_a3 for Boltz-2's
// third, where the checkpoint has them.
AdaptiveNorm read_adaptive_norm(tensor::Context& context, tensor::WeightTable& table,
                                const std::string& name, std::int64_t c, std::int64_t c_cond);
ConditionedAttention read_conditioned_attention(tensor::Context& context,
                                                tensor::WeightTable& table, const std::string& name,
                                                const DiffusionShape& shape);
ConditionedTransition read_conditioned_transition(tensor::Context& context,
                                                  tensor::WeightTable& table,
                                                  const std::string& name,
                                                  const DiffusionShape& shape);
WindowAttention read_window_attention(tensor::Context& context, tensor::WeightTable& table,
                                      const std::string& name, std::int64_t c, std::int64_t c_pair,
                                      std::int64_t n_heads);

// a: f32 [R, c]; s: f32 [R, c_cond]; z: f32 [N, N, c_pair] with N = R; mask: f32 [N] of 0 and 1, of
// the keys, or empty.
tensor::Tensor adaptive_norm(const BlockContext& run, const AdaptiveNorm& block,
                             const tensor::Tensor& a, const tensor::Tensor& s);
void add_conditioned_attention(const BlockContext& run, const ConditionedAttention& block,
                               const tensor::Tensor& a, const tensor::Tensor& s,
                               const tensor::Tensor& z, const tensor::Tensor& mask = {});
void add_conditioned_transition(const BlockContext& run, const ConditionedTransition& block,
                                const tensor::Tensor& a, const tensor::Tensor& s);

// a: f32 [R, c], R a multiple of 32, whose last rows may be padding; pair: f32 [R / 32, 32, 128,
// c_pair]; mask: f32 [R / 32, 128], window_mask().
void add_window_attention(const BlockContext& run, const WindowAttention& block,
                          const tensor::Tensor& a, const tensor::Tensor& pair,
                          const tensor::Tensor& mask);
// 1 for each key of each window that is one of the first n_atoms of n_rows rows, else 0. Window t
// has queries 32 t to 32 t + 31 and keys 32 t - 48 to 32 t + 79.
std::vector<float> window_mask(std::int64_t n_rows, std::int64_t n_atoms);

}  // namespace biogpu::models
