#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/biogpu/command.hpp"
#include "lib/core/device.hpp"
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

}  // namespace

Run add_devices(CLI::App& command) {
  const auto json_path = std::make_shared<std::string>();
  command.add_option("--json", *json_path, "write the list as JSON, - for standard output")
      ->option_text("FILE");
  command.footer(
      std::string("Indices are the numbers that --device accepts; they count the devices left by\n"
                  "CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES.\n\n"
                  "Examples:\n  biogpu devices\n  biogpu devices --json -\n\n") +
      kExitCodes);
  return [json_path](const std::string&) {
    std::string why;
    const std::vector<DeviceInfo> devices = list_devices(&why);
    if (*json_path != "-") print(table(devices, why));
    if (json_path->empty()) return;
    io::OutputFile file(*json_path);
    file.write(json(devices, why));
    file.commit();
  };
}

}  // namespace biogpu::app
