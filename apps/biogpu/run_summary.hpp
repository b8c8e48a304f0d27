#pragma once

#include <string>

#include "apps/biogpu/log.hpp"
#include "apps/biogpu/shared_options.hpp"
#include "lib/core/device.hpp"
#include "lib/pipeline/pipeline.hpp"
#include "lib/report/json_summary.hpp"

namespace biogpu::app {

// A summary of --json with what every command tells alike: the build, the command line, the device,
// the clock and the warnings until now.
report::RunSummary begin_summary(const std::string& command_line, const SharedFlags& flags,
                                 const DeviceChoice& device, const Log& log);

void add_times(report::RunSummary& summary, const pipeline::Times& times);

// Does nothing where --json was not given.
void write_summary(const SharedFlags& flags, const report::RunSummary& summary);

}  // namespace biogpu::app
