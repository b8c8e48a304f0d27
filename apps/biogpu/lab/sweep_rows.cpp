#include "apps/biogpu/lab/sweep_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "apps/biogpu/command_line/command.hpp"
#include "lib/core/error.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/output_file.hpp"
#include "lib/lab/sweep_block.hpp"
#include "lib/tensor/tuning/tuning_file.hpp"

namespace biogpu::app {
namespace {

using lab::SweptProduct;
using tensor::TunedTile;

std::string sweep_row(const BlockWork& work, const SweptProduct& one) {
  const auto& [m, n, k, n_products] = one.product.shape;
  return fmt::format(
      "{}\t{}x{}\t{}\t{}\t{}x{}x{}\t{}\t{}\t{:.1f}\t{}\t{:.1f}\t{:.3f}\t{:.3f}\t{}\n",
      work.block->label(), work.extents.n, work.extents.c, one.product.operation, one.product.type,
      m, n, k, n_products, one.by_rule, 1e6 * one.rule_s, one.other, 1e6 * one.other_s,
      one.speedup(), one.noise, one.wins ? one.other : one.by_rule);
}

// What the file has of the product gives way; the number of tiles that are not as before.
int keep(std::vector<TunedTile>& tiles, const SweptProduct& one) {
  const auto is_same = [&](const TunedTile& tile) { return tile.product == one.product; };
  const auto before = std::find_if(tiles.begin(), tiles.end(), is_same);
  const int columns_before = before == tiles.end() ? one.by_rule : before->columns;
  std::erase_if(tiles, is_same);
  if (one.wins) tiles.push_back({one.product, one.other, one.speedup()});
  return columns_before == (one.wins ? one.other : one.by_rule) ? 0 : 1;
}

void write(const std::string& path, const std::string& text) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  io::OutputFile file(path);
  file.write(text);
  const io::CommitGuard guard;
  file.commit();
}

}  // namespace

void sweep_blocks(BenchDevice& device, const std::vector<BlockWork>& works,
                  const lab::RunSettings& settings, const std::string& path,
                  const std::string& heading) {
  const tensor::DeviceTiles tiles = tensor::device_tiles(*device.context);
  if (tiles.table == nullptr)
    throw Error(ErrorCode::usage,
                "--sweep: no operation has a choice on a CPU; expected a GPU as --device");
  if (path.empty())
    throw Error(ErrorCode::usage, "--sweep: no folder for caches; expected --tuning FILE");
  std::vector<tensor::DeviceTuning> tuning = tensor::read_tuning(path);
  std::vector<TunedTile>& kept = tensor::tuning_of(tuning, tiles.device).tiles;
  print(heading +
        "block\tshape\toperation\ttype\tproduct\tproducts\tby_rule\trule_us\tother\tother_us\t"
        "speedup\tnoise\tbest\n");
  std::set<tensor::TiledProduct> known;
  int n_changed = 0;
  for (const BlockWork& work : works)
    for (const SweptProduct& one : lab::sweep_block(*device.context, *work.block, work.extents,
                                                    settings, *tiles.table, known)) {
      print(sweep_row(work, one));
      n_changed += keep(kept, one);
    }
  if (n_changed > 0) write(path, tensor::format_tuning(tuning));
  print(fmt::format("# {}: {} tiles of {}, {} changed\n", path, kept.size(), tiles.device,
                    n_changed));
}

}  // namespace biogpu::app
