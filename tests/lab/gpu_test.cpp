#include <cstdlib>
#include <string>

#include "lib/lab/registry.hpp"
#include "lib/lab/run_block.hpp"
#include "lib/tensor/context.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

using namespace biogpu;
using tensor::Precision;

namespace {

// Of the project's own kernels: products of these sizes are too small for a library.
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
