#include "lib/io/output/output_target.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <climits>
#include <cstdlib>
#include <string_view>

#include "lib/core/aligned_buffer.hpp"

namespace biogpu::io::output {
namespace {

constexpr int kMaxLinks = 40;  // as Linux

std::size_t name_begin(const std::string& path) { return path.rfind('/') + 1; }

// N of a path that names descriptor N of this process; -1 for all others.
int descriptor_of(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;  // without /proc, too
  const std::string_view name = std::string_view(path).substr(name_begin(path));
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size() || number < 0) return -1;
  const std::string folder = path.substr(0, name_begin(path));
  const MallocPtr<char> whole(realpath(folder.empty() ? "." : folder.c_str(), nullptr));
  if (!whole) return -1;
  std::string_view found = whole.get();
  const std::string process = fmt::format("/proc/{}/", getpid());
  if (!found.starts_with(process)) return -1;
  found.remove_prefix(process.size());
  return found == "fd" || (found.starts_with("task/") && found.ends_with("/fd")) ? number : -1;
}

// Empty where the path is no symbolic link.
std::string read_link(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t n = readlink(path.c_str(), target, sizeof(target));
  return n > 0 ? std::string(target, static_cast<std::size_t>(n)) : std::string();
}

}  // namespace

OutputTarget resolve_target(const std::string& path) {
  std::string at = path;
  for (int i = 0; i < kMaxLinks; ++i) {
    if (const int number = descriptor_of(at); number >= 0) return {number, path};
    const std::string next = read_link(at);
    if (next.empty()) return {-1, at};
    at = next.starts_with('/') ? next : at.substr(0, name_begin(at)) + next;
  }
  return {-1, path};  // links in a circle: opening it fails
}

}  // namespace biogpu::io::output
