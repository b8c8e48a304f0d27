#include "apps/biogpu/infer/run/bench_device.hpp"

#include "apps/biogpu/command_line/shared_flags.hpp"
#include "apps/biogpu/infer/run/infer_flags.hpp"
#include "lib/core/device.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

namespace biogpu::app {

BenchDevice open_bench_device(const std::string& device, const std::string& precision,
                              int n_threads) {
  BenchDevice opened;
  const DeviceChoice choice = choose_device(parse_device_request(device), true, 1);
  if (choice.on_gpu()) opened.precision = parse_precision(precision, true);
  opened.n_threads = n_threads > 0 ? n_threads : default_threads(allowed_cpus());
  tensor::ContextOptions options;
  options.precision = opened.precision;
  options.n_threads = opened.n_threads;
  opened.context = choice.on_gpu() ? tensor::make_gpu_context(choice.gpus.front(), options)
                                   : ops::make_cpu_context(options.n_threads);
  opened.name = choice.name;
  opened.roofline = ops::roofline_of(choice.name, opened.precision);
  return opened;
}

}  // namespace biogpu::app
