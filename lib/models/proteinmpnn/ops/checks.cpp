// What the operations in blocks demand, on every context and in every build (lib/ops/checks.hpp).
#include <fmt/format.h>

#include "lib/core/error.hpp"
#include "lib/models/proteinmpnn/ops/edge_embed.hpp"
#include "lib/models/proteinmpnn/ops/edge_message.hpp"
#include "lib/models/proteinmpnn/ops/edge_update.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

// Operations that multiply inside a block take whole groups of columns.
void check_block_width(const char* operation, std::int64_t width) {
  if (width % 32 != 0)
    throw Error(ErrorCode::failed,
                fmt::format("{}: a width of {}; expected a multiple of 32", operation, width));
}

}  // namespace

void check(const EdgeEmbed& op) { check_block_width("edge_embed", op.out.shape[2]); }

void check(const EdgeMessage& op) { check_block_width("edge_message", op.out.shape[1]); }

void check(const EdgeUpdate& op) { check_block_width("edge_update", op.edges.shape[2]); }

}  // namespace biogpu::models::proteinmpnn
