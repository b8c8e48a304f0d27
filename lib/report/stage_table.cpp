#include "lib/report/stage_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace biogpu::report {
namespace {

std::string number(double value, int precision) {
  return value > 0 ? fmt::format("{:.{}f}", value, precision) : "-";
}

std::string line(std::size_t width, std::string_view name, std::string_view threads,
                 std::string_view wall, std::string_view busy, std::string_view waited,
                 std::string_view bytes, std::string_view rate, std::string_view waits_for) {
  return fmt::format("{:<{}}  {:>7}  {:>8}  {:>8}  {:>8}  {:>9}  {:>8}  {}", name, width, threads,
                     wall, busy, waited, bytes, rate, waits_for);
}

}  // namespace

std::vector<std::string> stage_table(const std::vector<StageTimes>& stages) {
  constexpr std::string_view kHead = "stage";
  std::size_t width = kHead.size();
  for (const StageTimes& stage : stages) width = std::max(width, stage.name.size());
  std::vector<std::string> lines;
  lines.push_back(
      line(width, kHead, "threads", "wall s", "busy s", "wait s", "MB", "MB/s", "waits for"));
  for (const StageTimes& stage : stages) {
    const double megabytes = 1e-6 * static_cast<double>(stage.bytes);
    lines.push_back(line(width, stage.name, std::to_string(stage.n_threads),
                         number(stage.wall_s, 3), number(stage.busy_s, 3), number(stage.wait_s, 3),
                         number(megabytes, 1),
                         number(stage.busy_s > 0 ? megabytes / stage.busy_s : 0, 1),
                         stage.waits_for.empty() ? "-" : stage.waits_for));
  }
  return lines;
}

}  // namespace biogpu::report
