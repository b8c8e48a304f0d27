#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/tensor/context.hpp"
#include "tests/models/alphagenome/changed_checks.hpp"
#include "tests/models/alphagenome/model_support.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

using namespace biogpu;
using tensor::Precision;
using test::alphagenome_options;
using test::LoadedAlphaGenome;

TEST_CASE("alphagenome.model: every part on the GPU in fp32 equals the program in double precision",
          "[alphagenome][model][device]") {
  if (!test::has_gpu()) return;
  LoadedAlphaGenome gpu(tensor::make_gpu_context(0, {Precision::fp32}), alphagenome_options(0));
  test::check_alphagenome(gpu, "tanh/0", 2e-4);
}

TEST_CASE("alphagenome.junctions: sites and counts on the GPU equal the program",
          "[alphagenome][model][device]") {
  if (!test::has_gpu()) return;
  models::AlphaGenome::Options options = alphagenome_options(0);
  options.weights.heads = {{"splice_junctions", {}}};
  LoadedAlphaGenome gpu(tensor::make_gpu_context(0, {Precision::fp32}), options);
  const std::vector<float> first = test::check_junctions(gpu, 2e-4);
  if (!test::is_emulated()) CHECK(test::check_junctions(gpu, 2e-4) == first);
}

TEST_CASE("alphagenome.model: 16 bits keep the course of each track over positions",
          "[alphagenome][model][device]") {
  if (!test::has_gpu()) return;
  const Precision precision = GENERATE(Precision::fp16, Precision::bf16);
  // Emulation takes long: one precision with each width.
  if (test::is_emulated() && (precision == Precision::bf16) != test::is_second_width()) return;
  LoadedAlphaGenome cpu(ops::make_cpu_context(2), alphagenome_options(0)),
      gpu(tensor::make_gpu_context(0, {precision}), alphagenome_options(0));
  INFO(static_cast<int>(precision));
  const std::vector<test::Letters> windows = test::read_windows(test::kTinyAlphaGenome);
  test::check_course(cpu, gpu, windows, precision == Precision::bf16 ? 0.99 : 0.9998);
}

TEST_CASE(
    "alphagenome.model: a window gets the same bytes on the GPU in any batch, again and again",
    "[alphagenome][model][device]") {
  if (!test::has_gpu() || test::is_second_width()) return;
  LoadedAlphaGenome gpu(tensor::make_gpu_context(0, {Precision::fp16}), alphagenome_options(0));
  test::check_again(gpu, test::read_windows(test::kTinyAlphaGenome));
}

TEST_CASE("alphagenome.embeddings: groups of heads on the GPU have the bytes of a whole pass",
          "[alphagenome][model][device]") {
  if (!test::has_gpu() || test::is_second_width()) return;
  LoadedAlphaGenome gpu(tensor::make_gpu_context(0, {Precision::fp16}), alphagenome_options(0));
  test::check_kept_heads(gpu, {1, 6});
}

TEST_CASE("alphagenome.changed_windows: sums on the GPU have the bytes of a whole pass",
          "[alphagenome][model][device]") {
  // Rows, below, show the same of changed windows where kernels are emulated.
  if (!test::has_gpu() || test::is_emulated()) return;
  const Precision precision = GENERATE(Precision::fp32, Precision::fp16);
  INFO(static_cast<int>(precision));
  LoadedAlphaGenome gpu(tensor::make_gpu_context(0, {precision}), test::changed_options());
  test::check_changed_sums(gpu);
}

TEST_CASE("alphagenome.changed_windows: rows on the GPU have the bytes of a whole pass",
          "[alphagenome][model][device]") {
  if (!test::has_gpu() || test::is_second_width()) return;
  LoadedAlphaGenome gpu(tensor::make_gpu_context(0, {Precision::fp16}), test::rows_options());
  test::check_changed_rows(gpu, 1);
}
