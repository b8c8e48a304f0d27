#include "lib/report/json_summary.hpp"

#include <sys/resource.h>

#include "lib/core/version.hpp"

namespace biogpu::report {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

std::string json_summary(const RunSummary& run) {
  using Json = nlohmann::ordered_json;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);

  Json inputs = Json::array();
  for (const InputFile& file : run.inputs)
    inputs.push_back({{"path", file.path}, {"bytes", file.bytes}, {"records", file.records}});
  Json outputs = Json::array();
  for (const OutputFile& file : run.outputs)
    outputs.push_back({{"path", file.path}, {"bytes", file.bytes}});

  Json stages = Json::array();
  for (const StageTimes& stage : run.stages)
    stages.push_back({{"name", stage.name},
                      {"threads", stage.n_threads},
                      {"wall_s", stage.wall_s},
                      {"busy_s", stage.busy_s},
                      {"wait_s", stage.wait_s},
                      {"waits_for", stage.waits_for},
                      {"bytes", stage.bytes}});

  Json out;
  out["schema_version"] = 1;
  out["biogpu"] = {{"version", kVersion},
                   {"git", run.git.empty() ? Json() : Json(run.git)},
                   {"backend", run.backend},
                   {"cpu_isa", run.cpu_isa}};
  out["command"] = run.command;
  out["inputs"] = std::move(inputs);
  out["outputs"] = std::move(outputs);
  out["device"] = {{"requested", run.device_requested},
                   {"used", run.device_used},
                   {"name", run.device_name},
                   {"reason", run.device_reason}};
  out["time"] = {
      {"wall_s", run.wall_s},       {"cpu_s", seconds(usage.ru_utime) + seconds(usage.ru_stime)},
      {"gpu_s", run.gpu_s},         {"read_s", run.read_s},
      {"compute_s", run.compute_s}, {"write_s", run.write_s}};
  out["stages"] = std::move(stages);
  out["memory"] = {{"peak_rss_bytes", static_cast<std::uint64_t>(usage.ru_maxrss) * 1024},
                   {"peak_device_bytes", run.peak_device_bytes}};
  out["result"] = run.result;
  out["warnings"] = run.warnings;
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace biogpu::report
