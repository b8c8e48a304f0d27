#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/biogpu/command_line/command.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/run/cost_tasks.hpp"
#include "lib/core/device_start.hpp"
#include "lib/core/rate_cache.hpp"
#include "lib/io/output/path_conflicts.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {
namespace {

double gib(std::uint64_t bytes) { return static_cast<double>(bytes) / (1u << 30); }

std::string table(const std::vector<DeviceInfo>& devices, const std::string& why) {
  if (devices.empty()) return fmt::format("no GPU: {}\n", why);
  std::string text =
      "index\tname\tarchitecture\tfree_gib\ttotal_gib\tmultiprocessors\twave\tusable\n";
  for (const DeviceInfo& device : devices)
    text += fmt::format("{}\t{}\t{}\t{:.1f}\t{:.1f}\t{}\t{}\t{}\n", device.index, device.name,
                        device.architecture, gib(device.memory_free_bytes),
                        gib(device.memory_total_bytes), device.n_multiprocessors, device.wave_width,
                        device.usable ? "yes" : "no: " + device.why_not);
  return text;
}

std::string json(const std::vector<DeviceInfo>& devices, const std::string& why) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const DeviceInfo& device : devices)
    list.push_back({{"index", device.index},
                    {"name", device.name},
                    {"architecture", device.architecture},
                    {"memory_free_bytes", device.memory_free_bytes},
                    {"memory_total_bytes", device.memory_total_bytes},
                    {"multiprocessors", device.n_multiprocessors},
                    {"wave_width", device.wave_width},
                    {"usable", device.usable},
                    {"why_not", device.why_not}});
  Json whole;
  whole["schema_version"] = 1;
  whole["backend"] = gpu_backend_name();
  whole["devices"] = std::move(list);
  whole["why_none"] = devices.empty() ? Json(why) : Json();
  return whole.dump(2) + "\n";
}

// The file in which runs keep the rates of this machine, and its text with the defaults of what no
// run has left.
std::string rates_text() {
  const std::string key = cost::machine_key();
  const std::string path = cost::rates_file(key).string();
  cost::Machine machine = cost::load_rates();
  for (const cost::Task* const task : works::kAll) machine.set(*task, machine.of(*task));
  return fmt::format("file {}\n{}", path.empty() ? "none: no XDG_CACHE_HOME and no HOME" : path,
                     cost::format_rates(key, machine));
}

}  // namespace

Run add_devices(CLI::App& command) {
  const auto json_path = std::make_shared<std::string>();
  const auto rates = std::make_shared<bool>(false);
  command
      .add_option("--json", *json_path, "write the list as JSON to this file; - is standard output")
      ->check(text_name({"json"}))
      ->option_text("FILE");
  command.add_flag("--rates", *rates, "print the rates by which --device auto decides")
      ->option_text(" ");
  command.footer(
      std::string("Indices are the numbers that --device accepts; they count the devices left by\n"
                  "CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES.\n\n"
                  "Examples:\n  biogpu devices\n  biogpu devices --json -\n\n") +
      kExitCodes);
  return [json_path, rates](const std::string&) {
    if (*rates) return print(rates_text());
    if (*json_path != "-")
      io::require_distinct_files(
          {}, std::vector<io::NamedFile>{{"the list", "-"}, {"--json", *json_path}});
    std::string why;
    const std::vector<DeviceInfo> devices = describe_devices(&why);
    if (*json_path != "-") print(table(devices, why));
    if (json_path->empty()) return;
    io::OutputFile file(*json_path);
    file.write(json(devices, why));
    file.commit();
  };
}

}  // namespace biogpu::app
