#include "lib/core/rate_cache.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>
#include <vector>

#include "lib/core/device.hpp"
#include "lib/core/version.hpp"

namespace biogpu::cost {
namespace {

constexpr std::string_view kFirstLine = "biogpu rates 1";
constexpr std::size_t kMaxBytes = 1u << 16;

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) {
      const std::size_t colon = line.find(": ");
      if (colon != std::string::npos) return line.substr(colon + 2);
    }
  return "unknown CPU";
}

std::string first_word(const std::filesystem::path& path) {
  std::string word;
  std::ifstream(path) >> word;
  return word;
}

// "vendor:device" of what the bus names a display controller or an accelerator, sorted.
std::string pci_devices() {
  std::multiset<std::string> found;
  try {
    // With an error code it would end the program where it has no memory.
    for (const auto& entry : std::filesystem::directory_iterator("/sys/bus/pci/devices")) {
      const std::string kind = first_word(entry.path() / "class");
      if (kind.starts_with("0x03") || kind.starts_with("0x12"))
        found.insert(first_word(entry.path() / "vendor") + ":" +
                     first_word(entry.path() / "device"));
    }
  } catch (const std::filesystem::filesystem_error&) {
    // No such bus.
  }
  std::string text;
  for (const std::string& device : found) text += (text.empty() ? "" : ",") + device;
  return text.empty() ? "none" : text;
}

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// "task.rate": letters and '_', then a rate that there is.
bool is_rate_name(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || dot == 0) return false;
  const std::string_view task = name.substr(0, dot);
  return std::all_of(task.begin(), task.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; }) &&
         std::any_of(kRateNames.begin(), kRateNames.end(),
                     [&](const RateName& rate) { return name.substr(dot + 1) == rate.name; });
}

// Of the form "name value"; false where the line names no rate or has no number for one.
bool read_rate(std::string_view line, Machine& machine) {
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return false;
  const std::string_view name = line.substr(0, blank), number = line.substr(blank + 1);
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc{} || end != number.data() + number.size() || !is_plausible(value))
    return false;
  if (name == "start_s") {
    machine.start_s = value;
    return true;
  }
  if (!is_rate_name(name)) return false;
  machine.set(std::string(name), value);
  return true;
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return line;
}

std::optional<Machine> read_rates_file(const std::filesystem::path& path, std::string_view key) {
  std::error_code error;
  if (path.empty() || !std::filesystem::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return parse_rates(text, key);
}

}  // namespace

std::string machine_key() {
  int n_cpus = static_cast<int>(std::thread::hardware_concurrency());
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) n_cpus = CPU_COUNT(&set);
  return fmt::format("{}; {}; {} CPUs; {}; PCI {}", kVersion, cpu_name(), n_cpus,
                     gpu_backend_name(), pci_devices());
}

std::string format_rates(std::string_view key, const Machine& machine) {
  std::string text = fmt::format("{}\nkey {}\nstart_s {:.6g}\n", kFirstLine, key, machine.start_s);
  for (const auto& [name, value] : machine.known()) text += fmt::format("{} {:.6g}\n", name, value);
  return text;
}

std::optional<Machine> parse_rates(std::string_view text, std::string_view key) {
  if (text.size() > kMaxBytes || take_line(text) != kFirstLine) return std::nullopt;
  const std::string_view of = take_line(text);
  if (!of.starts_with("key ") || of.substr(4) != key) return std::nullopt;
  Machine machine;
  while (!text.empty())
    if (!read_rate(take_line(text), machine)) return std::nullopt;
  return machine;
}

std::filesystem::path cache_folder() {
  std::filesystem::path folder;
  if (const char* const cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr) folder = cache;
  if (!folder.is_absolute()) {
    const char* const home = std::getenv("HOME");
    folder = home != nullptr ? std::filesystem::path(home) / ".cache" : "";
  }
  return folder.is_absolute() ? folder / "biogpu" : std::filesystem::path();
}

std::filesystem::path rates_file(std::string_view key) {
  const std::filesystem::path folder = cache_folder();
  return folder.empty() ? folder : folder / fmt::format("rates-{:016x}.txt", fnv1a(key));
}

Machine load_rates() {
  const std::string key = machine_key();
  return read_rates_file(rates_file(key), key).value_or(Machine{});
}

void keep_rates(const Observed& seen) noexcept {
  try {
    Machine trial;
    if (!learn(trial, seen)) return;  // a short run
    const std::string key = machine_key();
    const std::filesystem::path path = rates_file(key);
    if (path.empty()) return;
    Machine machine = read_rates_file(path, key).value_or(Machine{});
    if (!learn(machine, seen)) return;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) return;
    // Renamed when it is whole: runs at the same time each read a whole file.
    std::filesystem::path unfinished = path;
    unfinished += fmt::format(".{}", getpid());
    std::ofstream file(unfinished, std::ios::binary);
    file << format_rates(key, machine);
    file.close();
    if (file) std::filesystem::rename(unfinished, path, error);
    if (!file || error) std::filesystem::remove(unfinished, error);
  } catch (...) {
    // The result of the run is whole: what is known of the machine for later is not worth its end.
  }
}

}  // namespace biogpu::cost
