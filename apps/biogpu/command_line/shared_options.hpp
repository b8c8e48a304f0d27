#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/biogpu/terminal/progress.hpp"
#include "lib/core/device.hpp"
#include "lib/io/output/path_conflicts.hpp"

namespace biogpu::app {

// Options that mean the same thing and have the same default in every command that has them.
struct SharedFlags {
  int threads = 0;  // after resolve(): at least 1
  std::string device = "auto";
  bool quiet = false;
  bool verbose = false;
  std::string json;                     // empty: none
  std::uint64_t max_memory = 0;         // bytes; 0: no bound asked for
  std::uint64_t max_device_memory = 0;  // bytes; 0: what is free
  std::uint64_t batch = 0;              // pairs, reads, ...; 0: chosen by the command
  ProgressWhen progress = ProgressWhen::automatic;

  DeviceRequest device_request;  // after resolve()

  // Replaces 0 threads by all allowed CPUs and reads the device. Throws Error{usage}.
  void resolve();
  // io::require_distinct_files() for what a command reads and writes, --json with it.
  void require_own_outputs(const std::vector<io::NamedFile>& inputs,
                           std::vector<io::NamedFile> outputs) const;
};

// CPUs that this process may use: its affinity mask, and the container's quota where there is one.
int allowed_cpus();

}  // namespace biogpu::app
