#include "apps/biogpu/lab/block_rows.hpp"

#include <fmt/format.h>

#include <utility>

#include "lib/lab/kernel_report.hpp"

namespace biogpu::app {
namespace {

using Json = nlohmann::ordered_json;
using lab::BlockResult;

double roofline_share(const BlockResult& result, const ops::Roofline& roofline) {
  ops::OpTiming timing;
  timing.seconds = result.median_s;
  timing.bytes = result.bytes;
  timing.operations = result.operations;
  return timing.share(roofline);
}

// What is told of a block's kernels: how many, and the one that takes longest.
std::string kernel_columns(const BlockResult& result) {
  const lab::LongestKernel longest = lab::longest_kernel(result.kernels);
  if (longest.launch == nullptr) return "\t-\t-\t-\t-\t-\t-";
  const tensor::KernelUse& kernel = *longest.launch;
  const bool is_told = kernel.registers >= 0;
  return fmt::format(
      "\t{}\t{}\t{:.0f}%\t{}\t{}\t{}", result.kernels.size(),
      kernel.symbol.empty() ? "-" : lab::kernel_name(kernel.symbol), 100 * longest.share,
      is_told ? fmt::format("{}", kernel.registers) : "-",
      is_told ? fmt::format("{:.1f}", static_cast<double>(kernel.shared_bytes) / 1024) : "-",
      kernel.occupancy < 0 ? "-" : fmt::format("{:.0f}%", 100 * kernel.occupancy));
}

Json kernel_rows(const BlockResult& result) {
  Json rows = Json::array();
  for (const tensor::KernelUse& kernel : result.kernels) {
    Json row{{"name", lab::kernel_name(kernel.symbol)},
             {"seconds", kernel.seconds},
             {"blocks", kernel.n_blocks},
             {"threads", kernel.n_threads}};
    if (kernel.registers >= 0) {
      row["registers"] = kernel.registers;
      row["shared_bytes"] = kernel.shared_bytes;
      row["local_bytes"] = kernel.local_bytes;
    }
    if (kernel.occupancy >= 0) row["occupancy"] = kernel.occupancy;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::string block_heading(bool on_gpu, const lab::Baseline* baseline) {
  std::string text =
      "block\tshape\tmedian_us\tleast_us\tTFLOP/s\tGB/s\troofline\terror\t1-cosine\tMB";
  if (on_gpu) text += "\tkernels\tlongest\tshare\tregisters\tshared_KB\toccupancy";
  if (baseline != nullptr) text += "\tspeedup";
  return text + "\n";
}

std::string block_row(const BlockResult& result, const ops::Roofline& roofline, bool on_gpu,
                      const lab::Baseline* baseline) {
  const double share = roofline_share(result, roofline);
  std::string text = fmt::format(
      "{}\t{}x{}\t{:.1f}\t{:.1f}\t{:.3f}\t{:.1f}\t{}\t{:.1e}\t{:.1e}\t{:.1f}", result.block,
      result.extents.n, result.extents.c, 1e6 * result.median_s, 1e6 * result.least_s,
      1e-12 * result.operations / result.median_s, 1e-9 * result.bytes / result.median_s,
      share == 0 ? "-" : fmt::format("{:.0f}%", 100 * share), result.error, result.angle,
      static_cast<double>(result.peak_bytes) / (1 << 20));
  if (on_gpu) text += kernel_columns(result);
  if (baseline != nullptr) {
    const double before = baseline->seconds(result);
    text += before == 0 ? "\t-" : fmt::format("\t{:.2f}", before / result.median_s);
  }
  return text + "\n";
}

nlohmann::ordered_json block_json(const BlockResult& result, const ops::Roofline& roofline,
                                  const lab::Baseline* baseline) {
  Json row{{"block", result.block},
           {"n", result.extents.n},
           {"c", result.extents.c},
           {"median_s", result.median_s},
           {"least_s", result.least_s},
           {"operations", result.operations},
           {"bytes", result.bytes},
           {"teraflops_per_s", 1e-12 * result.operations / result.median_s},
           {"gigabytes_per_s", 1e-9 * result.bytes / result.median_s},
           {"roofline_share", roofline_share(result, roofline)},
           {"error", result.error},
           {"one_minus_cosine", result.angle},
           {"peak_bytes", result.peak_bytes}};
  if (baseline != nullptr && baseline->seconds(result) > 0)
    row["baseline_s"] = baseline->seconds(result);
  if (!result.kernels.empty()) row["kernels"] = kernel_rows(result);
  return row;
}

}  // namespace biogpu::app
