#include "apps/biogpu/run/cost_tasks.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace biogpu::app {

void add_file(cost::Work& work, const std::string& path) {
  constexpr double kTextOfByte = 4;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return;
  const std::uintmax_t n_bytes = std::filesystem::file_size(path, error);
  if (error) return;
  double text = static_cast<double>(n_bytes);
  for (const std::string_view suffix : {".gz", ".bgz", ".bam", ".cram"})
    if (path.ends_with(suffix)) {
      text *= kTextOfByte;
      work.inflated = std::max(work.inflated, text);  // each file by one thread
      break;
    }
  work.bytes += text;
}

double read_seconds(const StageTimes& stage) { return stage.busy_s / std::max(1, stage.n_threads); }

}  // namespace biogpu::app
