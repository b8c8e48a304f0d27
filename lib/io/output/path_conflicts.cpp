#include "lib/io/output/path_conflicts.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <system_error>

#include "lib/core/error.hpp"
#include "lib/io/output/output_target.hpp"

namespace biogpu::io {
namespace {

// Suffixes of the indexes that programs write next to a file and find by its name.
constexpr const char* kIndexSuffixes[] = {".fai", ".gzi",  ".bai",      ".csi",
                                          ".tbi", ".crai", ".index.tsv"};

// Empty for what is no regular file, which may be named more than once.
std::string identity(const struct stat& status) {
  return S_ISREG(status.st_mode) ? fmt::format("{}:{}", status.st_dev, status.st_ino) : "";
}

std::string identity(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 ? identity(status) : "";
}

// What two paths of one file have in common, of a file that does not exist its folder's path with
// its name.
std::string identity(const std::string& path) {
  if (path.empty()) return {};
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) return identity(status);
  std::error_code error;
  const std::filesystem::path given(path);
  const std::filesystem::path folder = given.has_parent_path() ? given.parent_path() : ".";
  const std::filesystem::path whole = std::filesystem::canonical(folder, error);
  return ((error ? folder : whole) / given.filename()).string();
}

[[noreturn]] void refuse(const NamedFile& output, const std::string& other, const char* kind) {
  throw Error(ErrorCode::usage, fmt::format("{} and {} name the same file: {}; expected {}", other,
                                            output.option, output.path, kind));
}

// What can be read only once: standard input as "-", which has one position, or a pipe.
std::string stream_identity(const std::string& path) {
  struct stat status {};
  const bool known =
      path == "-" ? fstat(STDIN_FILENO, &status) == 0 : stat(path.c_str(), &status) == 0;
  if (known && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)))
    return fmt::format("{}:{}", status.st_dev, status.st_ino);
  return path == "-" ? path : "";
}

class StreamsRead {
 public:
  void add(const NamedFile& input) {
    const std::string stream = stream_identity(input.path);
    if (stream.empty()) return;
    const auto [same, is_new] = inputs_.emplace(stream, input);
    if (is_new) return;
    const NamedFile& first = same->second;
    std::string what = first.path == input.path && first.option == input.option
                           ? fmt::format("'{}' is given twice", input.path)
                           : fmt::format("{} '{}' and {} '{}' are the same stream", first.option,
                                         first.path, input.option, input.path);
    what += input.path == "-" ? "; standard input can be read only once"
                              : "; a pipe can be read only once";
    throw Error(ErrorCode::usage, what);
  }

 private:
  std::map<std::string, NamedFile> inputs_;
};

class FilesRead {
 public:
  explicit FilesRead(std::span<const NamedFile> inputs) {
    StreamsRead streams;
    for (const NamedFile& input : inputs) {
      if (input.path.empty()) continue;
      streams.add(input);
      if (input.path == "-") {
        options_.emplace(identity(STDIN_FILENO), input.option);
        continue;
      }
      options_.emplace(identity(input.path), input.option);
      for (const char* const suffix : kIndexSuffixes)
        options_.emplace(identity(input.path + suffix), "the index of " + input.option);
    }
  }

  void require_other(const NamedFile& output, const std::string& file) const {
    if (const auto same = options_.find(file); same != options_.end())
      refuse(output, same->second, "an output that is no input");
  }

 private:
  std::map<std::string, std::string> options_;
};

class FilesWritten {
 public:
  void add(const NamedFile& output, int descriptor, const std::string& file) {
    if (descriptor >= 0) {
      const auto [same, is_new] = descriptors_.emplace(descriptor, output.option);
      if (!is_new)
        throw Error(
            ErrorCode::usage,
            fmt::format("{} and {} cannot both go to {}; give one of them a file", same->second,
                        output.option,
                        descriptor == STDOUT_FILENO ? "standard output"
                                                    : fmt::format("descriptor {}", descriptor)));
    } else if (!file.empty() && file == stderr_) {
      refuse(output, "standard error", "a file of its own for each");
    }
    if (file.empty()) return;
    if (const auto [same, is_new] = options_.emplace(file, output.option); !is_new)
      refuse(output, same->second, "a file for each output");
  }

 private:
  std::map<int, std::string> descriptors_;
  std::map<std::string, std::string> options_;
  const std::string stderr_ = identity(STDERR_FILENO);
};

}  // namespace

void require_distinct_files(std::span<const NamedFile> inputs, std::span<const NamedFile> outputs) {
  const FilesRead read(inputs);
  FilesWritten written;
  for (const NamedFile& output : outputs) {
    if (output.path.empty()) continue;
    const output::OutputTarget target = output::resolve_target(output.path);
    const std::string file =
        target.descriptor >= 0 ? identity(target.descriptor) : identity(target.path);
    if (!file.empty()) read.require_other(output, file);
    written.add(output, target.descriptor, file);
  }
}

bool is_standard_stream(const std::string& path) {
  return output::resolve_target(path).descriptor >= 0;
}

}  // namespace biogpu::io
