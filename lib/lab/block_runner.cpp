#include "lib/lab/block_runner.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/lab/profile_range.hpp"

namespace biogpu::lab {

BlockRunner::BlockRunner(tensor::Context& context, BlockCase& block, std::string name)
    : context_(context), block_(block), name_(std::move(name)) {
  const auto dry_run = tensor::make_dry_run_context(context.precision());
  tensor::Arena measuring = tensor::Arena::measuring();
  block_.run({*dry_run, measuring});
  peak_ = measuring.peak_bytes();
  memory_ = context_.allocate(std::max<std::size_t>(peak_, tensor::Arena::kAlignment));
}

BlockRunner::~BlockRunner() {
  try {
    context_.synchronize();
    context_.release(memory_);
  } catch (const Error&) {  // the error that ends the run comes first
  }
}

std::uint64_t BlockRunner::make_key() {
  static std::uint64_t key = 0x6c61620000000000u;
  return ++key;
}

double BlockRunner::run(std::uint64_t key, bool ranges) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  {
    const ProfileRange range(ranges ? name_.c_str() : nullptr);
    context_.capture(key, [&] { queue(); });
    context_.synchronize();
  }
  const double clock_s = std::chrono::duration<double>(Clock::now() - begin).count();
  const double device_s = context_.captured_seconds();
  return device_s > 0 ? device_s : clock_s;
}

std::vector<tensor::KernelUse> BlockRunner::kernels(int n_runs) {
  return tensor::list_kernels(context_, n_runs, [&] { queue(); });
}

void BlockRunner::queue() {
  tensor::Arena arena(memory_, std::max<std::size_t>(peak_, tensor::Arena::kAlignment));
  block_.run({context_, arena});
}

}  // namespace biogpu::lab
