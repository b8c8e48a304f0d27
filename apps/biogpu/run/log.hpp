#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "lib/core/stage_times.hpp"

namespace biogpu::app {

// Lines on standard error: "[biogpu align 1.2s] text". Quiet leaves warnings; verbose adds detail.
// Any thread may log.
class Log {
 public:
  Log(std::string_view command, bool quiet, bool verbose);

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
  mutable std::mutex mutex_;
  std::vector<std::string> warnings_;
};

}  // namespace biogpu::app
