#include "lib/lab/run_block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/lab/profile_range.hpp"

namespace biogpu::lab {
namespace {

constexpr int kKernelRuns = 5;  // of which a kernel's least time is told

using Clock = std::chrono::steady_clock;
using tensor::DType;
using tensor::Precision;
using tensor::Tensor;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Half the distance of operands, relative to them; of fp32 on a GPU, that of products of two parts.
double rounding(Precision precision) {
  switch (tensor::operand_type(precision)) {
    case DType::f16:
      return 0x1p-12;
    case DType::bf16:
      return 0x1p-9;
    default:
      return 0x1p-21;
  }
}

// A key by which the context repeats the operations of one run of one case.
std::uint64_t next_key() {
  static std::uint64_t key = 0x6c61620000000000u;
  return ++key;
}

class Runner {
 public:
  Runner(tensor::Context& context, BlockCase& block, std::string name)
      : context_(context), block_(block), name_(std::move(name)), key_(next_key()) {
    const auto dry_run = tensor::make_dry_run_context(context.precision());
    tensor::Arena measuring = tensor::Arena::measuring();
    block_.run({*dry_run, measuring});
    peak_ = measuring.peak_bytes();
    memory_ = context_.allocate(std::max<std::size_t>(peak_, tensor::Arena::kAlignment));
  }
  ~Runner() {
    try {
      context_.synchronize();
      context_.release(memory_);
    } catch (const Error&) {  // the error that ends the run comes first
    }
  }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  std::size_t peak_bytes() const { return peak_; }
  // Seconds of one run: the device's, or the clock's where it tells none.
  double run(bool ranges) {
    const auto begin = Clock::now();
    {
      const ProfileRange range(ranges ? name_.c_str() : nullptr);
      context_.capture(key_, [&] { queue(); });
      context_.synchronize();
    }
    const double clock_s = seconds_since(begin);
    const double device_s = context_.captured_seconds();
    return device_s > 0 ? device_s : clock_s;
  }

  std::vector<tensor::KernelUse> kernels(int n_runs) {
    return tensor::list_kernels(context_, n_runs, [&] { queue(); });
  }

 private:
  void queue() {
    tensor::Arena arena(memory_, std::max<std::size_t>(peak_, tensor::Arena::kAlignment));
    block_.run({context_, arena});
  }

  tensor::Context& context_;
  BlockCase& block_;
  const std::string name_;
  const std::uint64_t key_;
  std::size_t peak_ = 0;
  void* memory_ = nullptr;
};

// Rows at equal distances, the first and the last among them.
std::vector<std::int64_t> sampled_rows(std::int64_t n_rows, int n_samples) {
  std::vector<std::int64_t> rows;
  const std::int64_t n = std::min<std::int64_t>(n_rows, n_samples);
  for (std::int64_t i = 0; i < n; ++i) rows.push_back(n == 1 ? 0 : i * (n_rows - 1) / (n - 1));
  return rows;
}

void compare(tensor::Context& context, const BlockCase& block, int n_samples, BlockResult& result) {
  const Tensor output = block.output();
  std::vector<float> got(static_cast<std::size_t>(output.size()));
  context.copy_out(got.data(), output);
  context.synchronize();
  double worst = 0, squares = 0, own = 0, wanted = 0, both = 0;
  std::size_t n = 0;
  for (const std::int64_t row : sampled_rows(output.shape[0], n_samples)) {
    const Row right = block.expected(row), start = block.start(row);
    for (std::size_t i = 0; i < right.size(); ++i) {
      const double from = start.empty() ? 0 : start[i];
      const double number = got[static_cast<std::size_t>(row) * right.size() + i];
      const double apart = std::fabs(number - right[i]);
      worst = std::isfinite(apart) ? std::max(worst, apart) : INFINITY;
      squares += right[i] * right[i];
      own += (number - from) * (number - from);
      wanted += (right[i] - from) * (right[i] - from);
      both += (number - from) * (right[i] - from);
      ++n;
    }
  }
  result.error = worst / std::sqrt(squares / static_cast<double>(n));
  result.angle = 1 - both / std::sqrt(own * wanted);
}

}  // namespace

double max_angle(Precision precision) { return 50 * rounding(precision) * rounding(precision); }

// The largest of many numbers, each a sum of products of rounded ones: a hundred roundings.
double max_error(Precision precision) { return 100 * rounding(precision); }

BlockResult run_block(tensor::Context& context, const Block& block, const Extents& extents,
                      const RunSettings& settings) {
  const std::unique_ptr<BlockCase> made =
      block.make(extents, {context.compute_dtype(), settings.seed});
  made->upload(context);
  BlockResult result;
  result.block = block.label();
  result.extents = extents;
  result.operations = made->operations();
  result.bytes = made->bytes();
  {
    Runner runner(context, *made, fmt::format("{} {}x{}", result.block, extents.n, extents.c));
    result.peak_bytes = runner.peak_bytes();
    runner.run(false);
    compare(context, *made, settings.n_rows, result);
    if (!(result.error < max_error(context.precision()) &&
          result.angle < max_angle(context.precision())))
      throw Error(ErrorCode::failed,
                  fmt::format("{}, {}x{}: the result is off by {:.1e} of its root mean square, 1 - "
                              "cosine {:.1e}; expected at most {:.1e} and {:.1e}",
                              result.block, extents.n, extents.c, result.error, result.angle,
                              max_error(context.precision()), max_angle(context.precision())));
    if (settings.max_runs > 1) runner.run(false);  // recorded
    std::vector<double> seconds;
    const auto begin = Clock::now();
    while (static_cast<int>(seconds.size()) < settings.max_runs &&
           (static_cast<int>(seconds.size()) < settings.min_runs ||
            seconds_since(begin) < settings.seconds_each))
      seconds.push_back(runner.run(settings.ranges));
    std::sort(seconds.begin(), seconds.end());
    if (!seconds.empty()) {
      result.median_s = seconds[seconds.size() / 2];
      result.least_s = seconds.front();
    }
    if (settings.lists_kernels)
      result.kernels = runner.kernels(settings.max_runs > 1 ? kKernelRuns : 1);
  }
  made->release(context);
  return result;
}

}  // namespace biogpu::lab
