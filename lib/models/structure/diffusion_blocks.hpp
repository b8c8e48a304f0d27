#pragma once

#include <cstdint>
#include <string>

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

// Atoms in windows: 32 queries see the 128 atoms around them, with a bias of their pairs. Window t
// has queries 32 t to 32 t + 31 and keys 32 t - 48 to 32 t + 79.
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

// a: f32 or, but for add_*(), operand [B N, c], as s [B N, c_cond]: B times N tokens, which share z
// [N, N, c_pair] and the mask, f32 [N] of 0 and 1, of the keys, or empty. The norm's result is an
// operand [B N, c].
tensor::Tensor adaptive_norm(const BlockContext& run, const AdaptiveNorm& block,
                             const tensor::Tensor& a, const tensor::Tensor& s);
void write_conditioned_attention(const BlockContext& run, const ConditionedAttention& block,
                                 const tensor::Tensor& a, const tensor::Tensor& s,
                                 const tensor::Tensor& z, const tensor::Tensor& mask,
                                 const UpdateTarget& target);
void add_conditioned_attention(const BlockContext& run, const ConditionedAttention& block,
                               const tensor::Tensor& a, const tensor::Tensor& s,
                               const tensor::Tensor& z, const tensor::Tensor& mask = {});
void write_conditioned_transition(const BlockContext& run, const ConditionedTransition& block,
                                  const tensor::Tensor& a, const tensor::Tensor& s,
                                  const UpdateTarget& target);
void add_conditioned_transition(const BlockContext& run, const ConditionedTransition& block,
                                const tensor::Tensor& a, const tensor::Tensor& s);

// a: f32 or, for write_*(), operand [N, c], of N atoms in T = ceil(N / 32) windows, as pair [T, 32,
// 128, c_pair], whose numbers of atoms that are none are not used. mask: f32 [N] of 0 and 1, of the
// keys, or empty.
void write_window_attention(const BlockContext& run, const WindowAttention& block,
                            const tensor::Tensor& a, const tensor::Tensor& pair,
                            const tensor::Tensor& mask, const UpdateTarget& target);
void add_window_attention(const BlockContext& run, const WindowAttention& block,
                          const tensor::Tensor& a, const tensor::Tensor& pair,
                          const tensor::Tensor& mask);

}  // namespace biogpu::models
