#include "lib/lab/run_block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/lab/block_runner.hpp"

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
    BlockRunner runner(context, *made, fmt::format("{} {}x{}", result.block, extents.n, extents.c));
    result.peak_bytes = runner.peak_bytes();
    const std::uint64_t key = BlockRunner::make_key();
    runner.run(key);
    compare(context, *made, settings.n_rows, result);
    if (!(result.error < max_error(context.precision()) &&
          result.angle < max_angle(context.precision())))
      throw Error(ErrorCode::failed,
                  fmt::format("{}, {}x{}: the result is off by {:.1e} of its root mean square, 1 - "
                              "cosine {:.1e}; expected at most {:.1e} and {:.1e}",
                              result.block, extents.n, extents.c, result.error, result.angle,
                              max_error(context.precision()), max_angle(context.precision())));
    if (settings.max_runs > 1) runner.run(key);  // recorded
    std::vector<double> seconds;
    const auto begin = Clock::now();
    while (static_cast<int>(seconds.size()) < settings.max_runs &&
           (static_cast<int>(seconds.size()) < settings.min_runs ||
            seconds_since(begin) < settings.seconds_each))
      seconds.push_back(runner.run(key, settings.ranges));
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
