#include "apps/biogpu/shared_flags.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <thread>

namespace biogpu::app {
namespace {

constexpr int kMaxDefaultThreads = 4;
constexpr int kMaxThreads = 1024;

}  // namespace

int allowed_cpus() {
  int n = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) n = std::max(1, CPU_COUNT(&set));
  // cgroup v2: "<quota> <period>" in microseconds, or "max <period>".
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota = 0;
  double period = 0;
  if (file >> quota >> period && quota > 0 && period > 0)
    n = std::clamp(static_cast<int>(std::ceil(quota / period)), 1, n);
  return n;
}

void SharedFlags::resolve() {
  if (threads == 0) threads = allowed_cpus();
  device_request = parse_device_request(device);
}

void add_shared_flags(CLI::App& command, SharedFlags& flags) {
  flags.threads = std::min(kMaxDefaultThreads, allowed_cpus());
  constexpr char kGroup[] = "Run";
  command
      .add_option("-t,--threads", flags.threads,
                  "CPU threads, 0 for all allowed [BIOGPU_THREADS, else up to 4]")
      ->envname("BIOGPU_THREADS")
      ->check(CLI::Range(0, kMaxThreads))
      ->option_text("N")
      ->group(kGroup);
  command
      .add_option("--device", flags.device,
                  "auto, cpu, gpu, or device numbers as 0,1 [BIOGPU_DEVICE, else auto]")
      ->envname("BIOGPU_DEVICE")
      ->option_text("WHAT")
      ->group(kGroup);
  command.add_option("--json", flags.json, "write a summary of the run as JSON")
      ->option_text("FILE")
      ->group(kGroup);
  command.add_option("--batch", flags.batch, "pairs in one batch [chosen for the device]")
      ->transform(CLI::AsSizeValue(true))
      ->option_text("N")
      ->group(kGroup);
  command.add_option("--max-memory", flags.max_memory, "bound on batches in host memory, as 2G")
      ->transform(CLI::AsSizeValue(false))
      ->option_text("SIZE")
      ->group(kGroup);
  command
      .add_option("--max-device-memory", flags.max_device_memory,
                  "bound on device memory [what is free]")
      ->transform(CLI::AsSizeValue(false))
      ->option_text("SIZE")
      ->group(kGroup);
  const std::map<std::string, ProgressWhen> when{{"auto", ProgressWhen::automatic},
                                                 {"always", ProgressWhen::always},
                                                 {"never", ProgressWhen::never}};
  command.add_option("--progress", flags.progress, "auto (on a terminal), always, never [auto]")
      ->transform(CLI::CheckedTransformer(when).description(""))
      ->option_text("WHEN")
      ->group(kGroup);
  CLI::Option* quiet =
      command.add_flag("-q,--quiet", flags.quiet, "only warnings and errors on standard error")
          ->group(kGroup);
  command.add_flag("-v,--verbose", flags.verbose, "log the time of each stage")
      ->excludes(quiet)
      ->option_text(" ")
      ->group(kGroup);
}

}  // namespace biogpu::app
