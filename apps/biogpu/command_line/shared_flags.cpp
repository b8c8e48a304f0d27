#include "apps/biogpu/command_line/shared_flags.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>

#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "lib/core/error.hpp"

namespace biogpu::app {
namespace {

constexpr int kMaxDefaultThreads = 4;
constexpr int kMaxThreads = 1024;
constexpr char kVariable[] = "BIOGPU_THREADS";

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

void SharedFlags::require_own_outputs(const std::vector<io::NamedFile>& inputs,
                                      std::vector<io::NamedFile> outputs) const {
  outputs.push_back({"--json", json});
  io::require_distinct_files(inputs, outputs);
}

void add_shared_flags(CLI::App& command, SharedFlags& flags) {
  add_threads_flag(command, flags.threads, "Run");
  const OptionGroup run(command, "Run");
  run.option("--device", flags.device,
             "compute on auto, cpu, gpu or devices by number, as 0,1 [BIOGPU_DEVICE, else auto]",
             "WHAT")
      ->envname("BIOGPU_DEVICE");
  run.option("--json", flags.json, "write a summary of the run as JSON to this file", "FILE")
      ->check(text_name({"json"}));
  run.option(
         "--batch", flags.batch,
         "compute at most N pairs in one batch, which changes no result [chosen for the device]",
         "N")
      ->transform(size_suffix(1000));
  run.option("--max-memory", flags.max_memory, "take at most this host memory for batches, as 2G",
             "SIZE")
      ->transform(size_suffix(1024));
  run.option("--max-device-memory", flags.max_device_memory,
             "take at most this memory of each GPU, as 8G [what is free]", "SIZE")
      ->transform(size_suffix(1024));
  run.option("--progress", flags.progress,
             "show progress: auto (on a terminal), always or never [auto]", "WHEN")
      ->transform(progress_words());
  CLI::Option* quiet =
      run.flag("-q,--quiet", flags.quiet, "print only warnings and errors on standard error");
  run.flag("-v,--verbose", flags.verbose, "log the time of each stage")->excludes(quiet);
}

CLI::Option* add_threads_flag(CLI::App& command, int& threads, const std::string& heading) {
  threads = std::min(kMaxDefaultThreads, allowed_cpus());
  const auto replace_none = [](std::string& number) {
    if (number == "0") number = std::to_string(allowed_cpus());
    return std::string();
  };
  return OptionGroup(command, heading)
      .option("-t,--threads", threads,
              "use N CPU threads; 0 is all that are allowed [BIOGPU_THREADS, else up to 4]", "N")
      ->envname(kVariable)
      ->transform(CLI::Validator(replace_none, ""))
      ->transform(in_range(0, kMaxThreads));  // the last one is the first to see the value
}

int default_threads(int otherwise) {
  const char* const value = std::getenv(kVariable);
  if (value == nullptr || *value == '\0') return otherwise;
  std::string number = value;
  const std::string wrong = in_range(0, kMaxThreads)(number);
  if (!wrong.empty())
    throw Error(ErrorCode::usage, std::string(kVariable).append(": ").append(wrong));
  const int n = std::stoi(number);
  return n > 0 ? n : allowed_cpus();
}

int default_threads() { return default_threads(std::min(kMaxDefaultThreads, allowed_cpus())); }

CLI::Validator progress_words() {
  return one_of(std::map<std::string, ProgressWhen>{{"auto", ProgressWhen::automatic},
                                                    {"always", ProgressWhen::always},
                                                    {"never", ProgressWhen::never}});
}

void remove_flags(CLI::App& command, std::initializer_list<const char*> names) {
  for (const char* const name : names) command.remove_option(command.get_option(name));
}

void add_shard_flag(CLI::App& command, io::Shard& shard, const std::string& what) {
  command
      .add_option_function<std::string>(
          "--shard", [&shard](const std::string& text) { shard = io::parse_shard(text); }, what)
      ->option_text("I/N")
      ->group("Run");
}

}  // namespace biogpu::app
