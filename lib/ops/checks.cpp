#include "lib/ops/checks.hpp"

#include <fmt/format.h>

#include <cstdint>

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

// Operations that multiply inside a block take whole groups of columns.
void check_block_width(const char* operation, std::int64_t width) {
  require(width % 32 == 0, operation,
          fmt::format("a width of {}; expected a multiple of 32", width));
}

}  // namespace

void check(const Attention& op) { check_shared_heads("attention", op.q.shape[1], op.k.shape[1]); }

void check(const CrossAttention& op) {
  check_shared_heads("cross_attention", op.q.shape[1], op.k.shape[1]);
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

void check(const EdgeEmbed& op) { check_block_width("edge_embed", op.out.shape[2]); }

void check(const EdgeMessage& op) { check_block_width("edge_message", op.out.shape[1]); }

void check(const EdgeUpdate& op) { check_block_width("edge_update", op.edges.shape[2]); }

}  // namespace biogpu::ops
