#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "lib/core/stage_times.hpp"

namespace biogpu::report {

struct InputFile {
  std::string path;
  std::uint64_t bytes = 0;  // 0: not a regular file
  std::uint64_t records = 0;
};

struct OutputFile {
  std::string path;
  std::uint64_t bytes = 0;  // before compression
};

// What one run did: the object that --json writes and docs/formats/json.md describes. A key added
// is a minor change; a key renamed or removed raises schema_version.
struct RunSummary {
  std::string git;      // commit of the build, empty when unknown
  std::string backend;  // GPU backend compiled in
  std::string cpu_isa;
  std::string command;  // the command line
  std::vector<InputFile> inputs;
  std::vector<OutputFile> outputs;
  std::string device_requested;
  std::string device_used;  // "cpu" or "gpu:0,1"
  std::string device_name;
  std::string device_reason;
  double wall_s = 0;
  double gpu_s = 0;
  double read_s = 0;
  double compute_s = 0;  // summed over the threads
  double write_s = 0;
  std::vector<StageTimes> stages;  // in the order in which they begin
  std::uint64_t peak_device_bytes = 0;
  nlohmann::ordered_json result = nlohmann::ordered_json::object();  // per command
  std::vector<std::string> warnings;
};

// One UTF-8 object, indented, keys in the order above, with a newline at the end. Adds the version,
// the CPU time and the peak memory of this process. Bytes of paths that are not UTF-8 are replaced.
std::string json_summary(const RunSummary& run);

}  // namespace biogpu::report
