#pragma once

#include <string>

namespace biogpu::io::output {

// What an output's path leads to.
struct OutputTarget {
  // A descriptor that the program was started with ("-", /dev/stdout, /dev/fd/N, links to them), -1
  // where it is none. It is written where it stands: opened again by its path, a file would be
  // written from its beginning, or replaced.
  int descriptor = -1;
  std::string path;  // else the file, which may not exist yet; no symbolic link
};

OutputTarget resolve_target(const std::string& path);

}  // namespace biogpu::io::output
