#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/core/version.hpp"
#include "lib/lab/registry.hpp"
#include "lib/lab/run_block.hpp"
#include "lib/lab/sweep_block.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/tuning/tuning_file.hpp"
#include "tests/unit/gpu/gpu_support.hpp"
#include "tests/unit/infer/folder.hpp"

using namespace biogpu;
using tensor::Precision;

namespace {

// Kernels of the project alone: products of these sizes are too small for a library.
void check_kernel(const tensor::KernelUse& kernel) {
  CAPTURE(kernel.symbol, kernel.n_threads, kernel.registers, kernel.shared_bytes);
  CHECK(kernel.symbol.find("kernel") != std::string::npos);
  CHECK(kernel.n_blocks > 0);
  CHECK(kernel.n_threads > 0);
  CHECK(kernel.registers > 0);
  CHECK(kernel.shared_bytes <= std::size_t{227} << 10);
  CHECK(kernel.occupancy > 0);
  CHECK(kernel.occupancy <= 1);
  CHECK(kernel.seconds > 0);
}

}  // namespace

// One precision a block, the other one with waves of another width: an emulated launch takes long.
TEST_CASE("lab: every block on a GPU equals double precision within roundings", "[lab][device]") {
  if (!test::has_gpu()) return;
  lab::RunSettings settings;
  settings.min_runs = settings.max_runs = 0;
  settings.n_rows = 12;
  const char* const wave = std::getenv("BIOGPU_EMULATED_WAVE");
  const bool odd_in_fp32 = wave == nullptr || std::string(wave) == "32";
  const auto fp32 = tensor::make_gpu_context(0, {Precision::fp32});
  const auto bf16 = tensor::make_gpu_context(0, {Precision::bf16});
  bool is_odd = false;
  for (const lab::Block& block : lab::blocks()) {
    is_odd = !is_odd;
    tensor::Context& context = is_odd == odd_in_fp32 ? *fp32 : *bf16;
    CAPTURE(block.label(), context.precision() == Precision::fp32);
    const lab::BlockResult result = lab::run_block(context, block, {5, 16}, settings);
    CHECK(result.angle < lab::max_angle(context.precision()));
    CHECK(result.error < lab::max_error(context.precision()));
    if (test::is_emulated()) {
      CHECK(result.kernels.empty());
      continue;
    }
    CHECK_FALSE(result.kernels.empty());
    for (const tensor::KernelUse& kernel : result.kernels) check_kernel(kernel);
  }
}

// sweep_block() throws where a tile gives other bytes.
TEST_CASE("lab: either tile of a block's products gives the same bytes", "[lab][device]") {
  if (!test::has_gpu()) return;
  lab::RunSettings settings;
  settings.max_runs = 1;
  settings.n_rows = 2;
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    const auto context = tensor::make_gpu_context(0, {precision});
    const tensor::DeviceTiles tiles = tensor::device_tiles(*context);
    REQUIRE(tiles.table != nullptr);
    std::set<tensor::TiledProduct> known;
    std::set<std::string> operations, types;
    for (const char* const name : {"triangle-product-out", "outer-product-mean"}) {
      const lab::Block& block = *lab::find_blocks({name}).at(0);
      for (const lab::SweptProduct& one :
           lab::sweep_block(*context, block, {5, 8}, settings, *tiles.table, known)) {
        CAPTURE(name, one.product.operation);
        operations.insert(one.product.operation.substr(0, 6));
        CHECK(one.by_rule != one.other);
        CHECK(one.rule_s > 0);
        CHECK(one.other_s > 0);
        types.insert(one.product.type);
      }
      CHECK(tiles.table->size() == 0);
      CHECK(lab::sweep_block(*context, block, {5, 8}, settings, *tiles.table, known).empty());
    }
    CHECK(operations.count("matmul") == 1);
    CHECK(types.count(precision == Precision::fp32 ? "fp32" : "bf16") == 1);
  }
}

TEST_CASE("lab: a context takes the tiles of its device from tuning data", "[lab][device]") {
  if (!test::has_gpu()) return;
  const std::string device = tensor::device_tiles(*tensor::make_gpu_context(0, {})).device;
  const tensor::TiledProduct product{"matmul kr", "bf16", {20, 20, 20, 32}};
  std::vector<tensor::DeviceTuning> tuning = {
      {device + " of another kind", kVersion, {{product, 128, 1.5}}},
      {device, std::string("before ") + kVersion, {{product, 128, 1.5}}}};
  const test::Folder folder;
  const auto context_with = [&](const std::string& text) {
    ::setenv("BIOGPU_TUNING", folder.write("tuning.json", text).c_str(), 1);
    return tensor::make_gpu_context(0, {});
  };
  {
    const auto context = context_with(tensor::format_tuning(tuning));
    CHECK(tensor::device_tiles(*context).table->size() == 0);
  }
  tensor::tuning_of(tuning, device).tiles.push_back({product, 128, 1.5});
  {
    const auto context = context_with(tensor::format_tuning(tuning));
    tensor::TileTable& table = *tensor::device_tiles(*context).table;
    CHECK(table.size() == 1);
    CHECK(table.columns("matmul kr", "bf16", {20, 20, 20, 32}, 64) == 128);
    CHECK(table.columns("matmul kr", "fp16", {20, 20, 20, 32}, 64) == 64);
    CHECK(table.columns("matmul rr", "bf16", {20, 20, 20, 32}, 64) == 64);
  }
  CHECK_THROWS_AS(context_with("{}"), Error);
  ::unsetenv("BIOGPU_TUNING");
}
