#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "lib/core/stage_times.hpp"
#include "lib/io/input/warnings.hpp"

namespace biogpu::app {

// Lines on standard error: "[biogpu align 1.2s] text". Quiet leaves warnings; verbose adds detail.
// Any thread may log. While there is one, it takes the warnings of readers of files.
class Log {
 public:
  Log(std::string_view command, bool quiet, bool verbose);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void info(std::string_view text);
  void detail(std::string_view text);
  void warn(std::string_view text);
  // A table of the stages of a run, as detail.
  void stages(const std::vector<StageTimes>& stages);

  double seconds() const;  // since construction
  std::vector<std::string> warnings() const;

 private:
  void line(std::string_view text);

  const std::string command_;
  const bool quiet_;
  const bool verbose_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  io::WarningListener listener_before_;
  mutable std::mutex mutex_;
  std::vector<std::string> warnings_;
};

}  // namespace biogpu::app
