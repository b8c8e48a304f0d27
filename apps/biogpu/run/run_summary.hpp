#pragma once

#include <optional>
#include <string>

#include "apps/biogpu/command_line/shared_options.hpp"
#include "apps/biogpu/run/log.hpp"
#include "lib/core/device.hpp"
#include "lib/io/output_file.hpp"
#include "lib/pipeline/pipeline.hpp"
#include "lib/report/json_summary.hpp"

namespace biogpu::app {

// A summary of --json with what every command reports: the build, the command line, the device,
// the clock and the warnings until now.
report::RunSummary begin_summary(const std::string& command_line, const SharedFlags& flags,
                                 const DeviceChoice& device, const Log& log);

void add_times(report::RunSummary& summary, const pipeline::Times& times);

// The file of --json, or nothing where it was not given. Opened before the work, for what cannot be
// written is better known then; written before an output gets its name and named after it, so that
// a run that fails leaves neither. Errors: as io::OutputFile.
class SummaryFile {
 public:
  SummaryFile() = default;
  explicit SummaryFile(const SharedFlags& flags);

  void write(const report::RunSummary& summary);
  void commit();

 private:
  std::optional<io::OutputFile> file_;
};

}  // namespace biogpu::app
