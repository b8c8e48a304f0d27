#include "apps/biogpu/run/start_stages.hpp"

#include "lib/core/device_start.hpp"

namespace biogpu::app {
namespace {

double process_s = 0;  // written once, before any other thread

}  // namespace

void mark_command_start() { process_s = process_cpu_seconds(); }

std::vector<StageTimes> start_stages() {
  std::vector<StageTimes> stages{{"start/process", 1, 0, process_s, 0, "", 0}};
  append_stages(stages, device_start_stages());
  return stages;
}

void append_stages(std::vector<StageTimes>& stages, const std::vector<StageTimes>& more) {
  stages.insert(stages.end(), more.begin(), more.end());
}

}  // namespace biogpu::app
