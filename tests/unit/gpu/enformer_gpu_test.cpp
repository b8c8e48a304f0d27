#include "lib/core/device.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/tensor/context.hpp"
#include "tests/models/enformer/model_support.hpp"
#include "tests/models/sums_support.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

using namespace biogpu;
using tensor::Precision;
using test::LoadedEnformer;

TEST_CASE("enformer.model: every part on the GPU in fp32 equals enformer-pytorch",
          "[enformer][model][device]") {
  if (!test::has_gpu()) return;
  LoadedEnformer gpu(tensor::make_gpu_context(0, {Precision::fp32}));
  test::check_enformer(gpu, 2e-4);
}

TEST_CASE("enformer.model: odd widths and windows of no whole bins on the GPU",
          "[enformer][model][device]") {
  if (!test::has_gpu()) return;
  const std::string folder = test::model_data(test::kOdd);
  LoadedEnformer gpu(tensor::make_gpu_context(0, {Precision::fp32}), {}, folder);
  test::check_odd_enformer(gpu, 2e-4);
  const Precision precision = GENERATE(Precision::fp16, Precision::bf16);
  LoadedEnformer cpu(ops::make_cpu_context(2), {}, folder),
      half(tensor::make_gpu_context(0, {precision}), {}, folder);
  const std::vector<test::Letters> windows = test::read_windows(test::kOdd);
  test::check_course(cpu, half, windows, precision == Precision::bf16 ? 0.99 : 0.9998);
  test::check_again(half, windows);
}

TEST_CASE("enformer.model: 16 bits keep the course of each track over positions",
          "[enformer][model][device]") {
  if (!test::has_gpu()) return;
  const Precision precision = GENERATE(Precision::fp16, Precision::bf16);
  LoadedEnformer cpu(ops::make_cpu_context(2)), gpu(tensor::make_gpu_context(0, {precision}));
  INFO(static_cast<int>(precision));
  test::check_course(cpu, gpu, test::tiny_windows(), precision == Precision::bf16 ? 0.996 : 0.9998);
}

TEST_CASE("enformer.model: a window gets the same bytes on the GPU in any batch, again and again",
          "[enformer][model][device]") {
  if (!test::has_gpu()) return;
  LoadedEnformer gpu(tensor::make_gpu_context(0, {Precision::fp16}));
  test::check_again(gpu, test::tiny_windows());
}

TEST_CASE("enformer.changed_windows: the bytes of a whole pass on the GPU",
          "[enformer][model][device]") {
  if (!test::has_gpu()) return;
  const Precision precision = GENERATE(Precision::fp32, Precision::fp16, Precision::bf16);
  LoadedEnformer gpu(tensor::make_gpu_context(0, {precision}));
  // Emulated kernels take seconds a window.
  const bool emulated = gpu_backend_name() == "emulated";
  test::check_changed(gpu, test::tiny_windows(),
                      emulated ? test::ChangedSample{20, 2} : test::ChangedSample{});
}

TEST_CASE("enformer.track_sums: the bytes of sums of fetched tracks on the GPU",
          "[enformer][model][device]") {
  if (!test::has_gpu()) return;
  const Precision precision = GENERATE(Precision::fp32, Precision::fp16);
  models::Enformer::Options options;
  options.weights.heads = test::heads_with_strands();
  LoadedEnformer gpu(tensor::make_gpu_context(0, {precision}), options);
  test::check_sums(gpu, test::tiny_windows());
}
