#include "lib/lab/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::lab {

#define BIOGPU_BLOCK(entry) std::vector<Block> entry();
#include "lib/lab/blocks.def"
#undef BIOGPU_BLOCK

const std::vector<Block>& blocks() {
  static const std::vector<Block> kBlocks = [] {
    std::vector<Block> all;
#define BIOGPU_BLOCK(entry) \
  for (Block & block : entry()) all.push_back(std::move(block));
#include "lib/lab/blocks.def"
#undef BIOGPU_BLOCK
    return all;
  }();
  return kBlocks;
}

std::vector<const Block*> find_blocks(const std::vector<std::string>& names) {
  std::vector<const Block*> found;
  std::vector<std::string> known;
  for (const Block& block : blocks()) {
    if (block.variant.empty()) known.push_back(block.name);
    if (names.empty()) found.push_back(&block);
  }
  for (const std::string& name : names) {
    const std::size_t before = found.size();
    for (const Block& block : blocks())
      if ((name == block.name || name == block.label()) &&
          std::find(found.begin(), found.end(), &block) == found.end())
        found.push_back(&block);
    const auto is_named = [&](const Block* block) {
      return name == block->name || name == block->label();
    };
    if (found.size() == before && std::none_of(found.begin(), found.end(), is_named))
      throw Error(ErrorCode::usage,
                  fmt::format("no block {}; there are {}", quoted(name), fmt::join(known, ", ")));
  }
  return found;
}

}  // namespace biogpu::lab
