#include "lib/io/file_kind.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "lib/core/error.hpp"

namespace biogpu::io {

bool passes_once(const std::string& path) {
  if (path == "-") return true;
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

void require_regular_file(const std::string& path, std::string_view why) {
  if (!passes_once(path)) return;
  struct stat status {};
  const bool is_pipe = path != "-" && stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
  throw Error(ErrorCode::usage, fmt::format("{}: {}; expected a file, since {}",
                                            path == "-" ? "standard input" : path,
                                            is_pipe       ? "is a pipe"
                                            : path == "-" ? "can be read only once"
                                                          : "is no regular file",
                                            why));
}

}  // namespace biogpu::io
