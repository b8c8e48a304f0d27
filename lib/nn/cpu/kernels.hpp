#pragma once

#include <cstdint>

#include "lib/nn/backend.hpp"

namespace biogpu::nn::cpu {

// The parts of operations that one thread does, dispatched to the CPU's instruction set. Numbers
// are fp32.

// A weight [n_out, n_in] in panels of panel_width() columns of the product: panel p holds, for each
// k, the weights of outputs [p * width, (p + 1) * width), zeros past n_out. Aligned to 64 bytes.
std::int64_t panel_width();
std::int64_t count_panels(std::int64_t n_out);
std::int64_t packed_size(std::int64_t n_out, std::int64_t n_in);
// One panel, to its place in `packed`; and all of them.
void pack_panel(const Tensor& weight, std::int64_t panel, float* packed);
void pack_weight(const Tensor& weight, float* packed);

// Rows [row_begin, row_end) and panels [panel_begin, panel_end) of an operation whose
// linear->packed is set.
struct GemmPart {
  std::int64_t row_begin = 0;
  std::int64_t row_end = 0;
  std::int64_t panel_begin = 0;
  std::int64_t panel_end = 0;
};
void gemm_part(const Gemm& op, const GemmPart& part);

void rotate_rows(const QkvRotary& op, const Batch& batch, std::int64_t begin, std::int64_t end);
void embed_rows(const Embed& op, const Batch& batch, std::int64_t begin, std::int64_t end);
void add_layer_norm_rows(const AddLayerNorm& op, std::int64_t begin, std::int64_t end);
void mean_pool_row(const Tensor& out, const Tensor& x, const Batch& batch, std::int64_t s);

// One head of one sequence. scratch: attention_scratch() floats, aligned to 64 bytes.
std::int64_t attention_scratch(std::int64_t length, std::int64_t head_size);
void attend(const Attention& op, const Batch& batch, std::int64_t sequence, std::int64_t head,
            float* scratch);

// out[j * n + i]: the probability of residue j for residue i of a sequence of n, from the log sums
// that attention left.
void probabilities(const Contacts& op, const Batch& batch, std::int64_t sequence, std::int64_t head,
                   float* out, float* scratch);

}  // namespace biogpu::nn::cpu
