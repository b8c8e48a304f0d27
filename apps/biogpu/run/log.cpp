#include "apps/biogpu/run/log.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "apps/biogpu/run/start_stages.hpp"
#include "apps/biogpu/terminal/progress.hpp"
#include "lib/report/stage_table.hpp"

namespace biogpu::app {

Log::Log(std::string_view command, bool quiet, bool verbose)
    : command_(command), quiet_(quiet), verbose_(verbose) {
  listener_before_ = io::set_warning_listener([this](const std::string& text) { warn(text); });
}

Log::~Log() { io::set_warning_listener(listener_before_); }

void Log::info(std::string_view text) {
  if (!quiet_) line(text);
}

void Log::detail(std::string_view text) {
  if (verbose_) line(text);
}

void Log::warn(std::string_view text) {
  line(fmt::format("warning: {}", text));
  const std::lock_guard lock(mutex_);
  warnings_.emplace_back(text);
}

void Log::stages(const std::vector<StageTimes>& stages) {
  if (!verbose_) return;
  std::vector<StageTimes> all = start_stages();
  append_stages(all, stages);
  for (const std::string& row : report::stage_table(all)) line(row);
}

double Log::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

std::vector<std::string> Log::warnings() const {
  const std::lock_guard lock(mutex_);
  return warnings_;
}

void Log::line(std::string_view text) {
  std::string whole = fmt::format("[biogpu {} {:.1f}s] {}", command_, seconds(), text);
  // One line, even where a file name has line ends or other control characters.
  std::replace_if(
      whole.begin(), whole.end(), [](unsigned char c) { return c < ' ' && c != '\t'; }, ' ');
  whole += '\n';
  clear_progress_line();
  // One write, so that lines of several threads do not mix; nothing can be done when it fails.
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, whole.data(), whole.size());
}

}  // namespace biogpu::app
