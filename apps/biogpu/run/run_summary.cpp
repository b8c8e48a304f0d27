#include "apps/biogpu/run/run_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/biogpu/command_line/command.hpp"
#include "apps/biogpu/run/start_stages.hpp"
#include "lib/core/cpu_isa.hpp"

namespace biogpu::app {

report::RunSummary begin_summary(const std::string& command_line, const SharedFlags& flags,
                                 const DeviceChoice& device, const Log& log) {
  report::RunSummary summary;
  summary.git = build_commit();
  summary.backend = gpu_backend_name();
  summary.cpu_isa = cpu_isa();
  summary.command = command_line;
  summary.device_requested = flags.device;
  summary.device_used =
      device.on_gpu() ? fmt::format("gpu:{}", fmt::join(device.gpus, ",")) : "cpu";
  summary.device_name = device.name;
  summary.device_reason = device.reason;
  summary.stages = start_stages();
  summary.wall_s = log.seconds();
  summary.warnings = log.warnings();
  return summary;
}

void add_times(report::RunSummary& summary, const pipeline::Times& times) {
  summary.read_s = times.read_s;
  summary.compute_s = times.compute_s;
  summary.write_s = times.write_s;
}

SummaryFile::SummaryFile(const SharedFlags& flags) {
  if (!flags.json.empty()) file_.emplace(flags.json);
}

void SummaryFile::write(const report::RunSummary& summary) {
  if (!file_) return;
  file_->write(report::json_summary(summary));
  file_->finish();
}

void SummaryFile::commit() {
  if (file_) file_->commit();
}

}  // namespace biogpu::app
