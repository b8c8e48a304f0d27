#include <fmt/core.h>
#include <fmt/ranges.h>

#include "apps/biogpu/build_commit.hpp"
#include "apps/biogpu/command_line/command.hpp"
#include "apps/biogpu/command_line/shared_flags.hpp"
#include "lib/core/cpu_isa.hpp"
#include "lib/core/device_start.hpp"
#include "lib/core/version.hpp"

namespace biogpu::app {

std::string version_text() {
  std::string text = fmt::format("biogpu {}\nbackends: cpu ({})", kVersion, cpu_isa());
  if (gpu_backend_name() != "none") text += fmt::format(", {}", gpu_backend_name());
  std::string why;
  std::vector<std::string> names;
  for (const DeviceInfo& device : describe_devices(&why))
    names.push_back(fmt::format("{} {} ({}{})", device.index, device.name, device.architecture,
                                device.usable ? "" : ", not usable"));
  text += names.empty() ? fmt::format("\ndevices: none ({})\n", why)
                        : fmt::format("\ndevices: {}\n", fmt::join(names, "; "));
  return text;
}

std::string build_commit() { return BIOGPU_COMMIT; }
std::string build_date() { return BIOGPU_COMMIT_DATE; }

Run add_version(CLI::App& command) {
  command.footer(std::string("Examples:\n  biogpu version\n  biogpu --version\n\n") + kExitCodes);
  return [](const std::string&) {
    std::string text = version_text();
    const std::string git = build_commit();
    text += fmt::format("commit: {}\n", git.empty() ? "unknown" : git);
    text += fmt::format("compiler: {} {}\n",
#ifdef __clang__
                        "clang",
#else
                        "gcc",
#endif
                        __VERSION__);
    text += fmt::format("CPUs allowed: {}\n", allowed_cpus());
    print(text);
  };
}

}  // namespace biogpu::app
