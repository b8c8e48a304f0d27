#include "lib/io/output/stale_files.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <vector>

namespace biogpu::io::output {
namespace {

constexpr std::string_view kBegin = ".biogpu-";
constexpr std::string_view kEnd = ".tmp";

// Empty where it cannot be told from others: their processes must not pass for dead ones.
std::string name_machine() {
  std::string identity;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> identity;
  char space[64];
  const ssize_t n = readlink("/proc/self/ns/pid", space, sizeof space);
  if (identity.empty() || n <= 0) return {};
  identity.append(space, static_cast<std::size_t>(n));
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char c : identity) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return fmt::format("{:016x}", hash);
}

const std::string& machine() {
  static const std::string name = name_machine();
  return name;
}

// The process that a hidden file of this machine is of; 0 for other names.
pid_t process_of(std::string_view name) {
  if (machine().empty()) return 0;
  const std::string begin = fmt::format("{}{}-", kBegin, machine());
  if (!name.starts_with(begin) || !name.ends_with(kEnd)) return 0;
  name.remove_prefix(begin.size());
  pid_t process = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  return error == std::errc{} && *end == '-' && process > 0 ? process : 0;
}

bool is_dead(pid_t process) { return kill(process, 0) != 0 && errno == ESRCH; }

bool is_first_look(const std::string& folder) {
  static std::mutex looking;
  static std::set<std::string> seen;
  const std::lock_guard lock(looking);
  return seen.insert(folder).second;
}

}  // namespace

std::string next_hidden_name(const std::string& folder) {
  static std::atomic<unsigned> n_names{0};
  return fmt::format("{}{}{}-{}-{}{}", folder, kBegin, machine(), getpid(), ++n_names, kEnd);
}

void remove_stale_files(const std::string& folder) {
  struct CloseFolder {
    void operator()(DIR* open) const { closedir(open); }
  };
  if (!is_first_look(folder)) return;
  std::vector<std::string> stale;
  {
    const std::unique_ptr<DIR, CloseFolder> names(opendir(folder.empty() ? "." : folder.c_str()));
    if (!names) return;
    while (const dirent* const entry = readdir(names.get())) {
      const pid_t process = process_of(entry->d_name);
      if (process != 0 && is_dead(process)) stale.push_back(folder + entry->d_name);
    }
  }
  for (const std::string& name : stale) unlink(name.c_str());
}

}  // namespace biogpu::io::output
