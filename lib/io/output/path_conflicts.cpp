#include "lib/io/output/path_conflicts.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <system_error>

#include "lib/core/error.hpp"

namespace biogpu::io {
namespace {

bool is_standard_output(const std::string& path) { return path == "-" || path == "/dev/stdout"; }

// What two paths of one file have in common; empty for what may be named more than once.
std::string identity(const std::string& path) {
  if (path.empty() || path == "/dev/stdin" || is_standard_output(path)) return {};
  struct stat status {};
  if (stat(path.c_str(), &status) == 0)
    return S_ISREG(status.st_mode) ? fmt::format("{}:{}", status.st_dev, status.st_ino) : "";
  std::error_code error;
  const std::filesystem::path given(path);
  const std::filesystem::path folder = given.has_parent_path() ? given.parent_path() : ".";
  const std::filesystem::path whole = std::filesystem::canonical(folder, error);
  return ((error ? folder : whole) / given.filename()).string();
}

[[noreturn]] void refuse(const NamedFile& output, const NamedFile& other, const char* kind) {
  throw Error(ErrorCode::usage, fmt::format("{} and {} name the same file: {}; expected {}",
                                            other.option, output.option, output.path, kind));
}

}  // namespace

void require_distinct_files(std::span<const NamedFile> inputs, std::span<const NamedFile> outputs) {
  std::map<std::string, const NamedFile*> read;
  std::map<std::string, const NamedFile*> written;
  for (const NamedFile& input : inputs) read.emplace(identity(input.path), &input);
  const NamedFile* to_stdout = nullptr;
  for (const NamedFile& output : outputs) {
    if (is_standard_output(output.path)) {
      if (to_stdout != nullptr)
        throw Error(ErrorCode::usage,
                    fmt::format("{} and {} cannot both go to standard output; give one of them a "
                                "file",
                                to_stdout->option, output.option));
      to_stdout = &output;
    }
    const std::string file = identity(output.path);
    if (file.empty()) continue;
    if (const auto same = read.find(file); same != read.end())
      refuse(output, *same->second, "an output that is no input");
    if (const auto [same, is_new] = written.emplace(file, &output); !is_new)
      refuse(output, *same->second, "a file for each output");
  }
}

}  // namespace biogpu::io
