#include <string>

#include "lib/core/device.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/tensor/context.hpp"
#include "tests/models/borzoi/longer.hpp"
#include "tests/models/sums_support.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

using namespace biogpu;
using tensor::Precision;
using test::LoadedBorzoi;
using test::model_data;

TEST_CASE("borzoi.model: every part on the GPU in fp32 equals borzoi-pytorch",
          "[borzoi][model][device]") {
  if (!test::has_gpu()) return;
  const std::string folder = GENERATE(test::kBorzoi, test::kFlashzoi);
  LoadedBorzoi gpu(tensor::make_gpu_context(0, {Precision::fp32}), model_data(folder));
  // Matrix cores cut off what they add to a sum, always towards zero, where the emulated ones
  // round: on an H100 the embedding differs by 4.1e-4 of a column's spread.
  test::check_borzoi(gpu, folder, gpu_backend_name() == "emulated" ? 2e-4 : 6e-4);
}

TEST_CASE("borzoi.model: odd widths and windows of no whole bins on the GPU",
          "[borzoi][model][device]") {
  if (!test::has_gpu()) return;
  const std::string folder = GENERATE(test::kOddBorzoi, test::kOddFlashzoi);
  LoadedBorzoi gpu(tensor::make_gpu_context(0, {Precision::fp32}), model_data(folder));
  test::check_odd_borzoi(gpu, folder, gpu_backend_name() == "emulated" ? 2e-4 : 6e-4);
  LoadedBorzoi cpu(ops::make_cpu_context(2), model_data(folder)),
      half(tensor::make_gpu_context(0, {Precision::fp16}), model_data(folder));
  const std::vector<test::Letters> windows = test::read_windows(folder);
  test::check_course(cpu, half, windows, 0.9998);
  test::check_again(half, windows);
}

TEST_CASE("borzoi.model: 16 bits keep the course of each track over positions",
          "[borzoi][model][device]") {
  if (!test::has_gpu()) return;
  const std::string folder = GENERATE(test::kBorzoi, test::kFlashzoi);
  const Precision precision = GENERATE(Precision::fp16, Precision::bf16);
  LoadedBorzoi cpu(ops::make_cpu_context(2), model_data(folder));
  LoadedBorzoi gpu(tensor::make_gpu_context(0, {precision}), model_data(folder));
  INFO(static_cast<int>(precision));
  // A relative error e takes e^2 / 2 of a cosine: 1.4 % of fp16 with its 11 bits, 17 % of bf16 with
  // its 8, as errors of single layers add up.
  test::check_course(cpu, gpu, test::read_windows(folder),
                     precision == Precision::fp16 ? 0.9999 : 0.985);
}

TEST_CASE("borzoi.model: a window gets the same bytes on the GPU in any batch, again and again",
          "[borzoi][model][device]") {
  if (!test::has_gpu()) return;
  const std::string folder = GENERATE(test::kBorzoi, test::kFlashzoi);
  LoadedBorzoi gpu(tensor::make_gpu_context(0, {Precision::fp16}), model_data(folder));
  test::check_again(gpu, test::read_windows(folder));
}

TEST_CASE("borzoi.changed_windows: the bytes of a whole pass on the GPU",
          "[borzoi][model][device]") {
  if (!test::has_gpu()) return;
  const std::string folder = GENERATE(test::kBorzoi, test::kFlashzoi);
  const Precision precision = GENERATE(Precision::fp32, Precision::fp16, Precision::bf16);
  const test::LongerBorzoi longer(folder);
  LoadedBorzoi gpu(tensor::make_gpu_context(0, {precision}), longer.path());
  // Emulated kernels take seconds a window.
  const bool emulated = gpu_backend_name() == "emulated";
  test::check_changed(gpu, longer.windows(),
                      emulated ? test::ChangedSample{20, 2} : test::ChangedSample{});
}

TEST_CASE("borzoi.track_sums: the bytes of sums of fetched tracks on the GPU",
          "[borzoi][model][device]") {
  if (!test::has_gpu()) return;
  const std::string folder = GENERATE(test::kBorzoi, test::kFlashzoi);
  const test::LongerBorzoi longer(folder);
  models::Borzoi::Options options;
  options.heads = test::heads_with_strands();
  if (folder == test::kFlashzoi) options.heads.pop_back();  // it has no other
  LoadedBorzoi gpu(tensor::make_gpu_context(0, {Precision::fp16}), longer.path(), options);
  test::check_sums(gpu, longer.windows());
}
