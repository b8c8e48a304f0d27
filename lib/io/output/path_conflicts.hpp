#pragma once

#include <span>
#include <string>

namespace biogpu::io {

// A file of a run and the option that names it. An empty path: not given.
struct NamedFile {
  std::string option;
  std::string path;
};

// Throws Error{usage}, naming both options, where an output is also an input or another output,
// whatever it is called: through another path, a link or by its own name; or where two of them are
// standard output ("-", /dev/stdout). Other devices and pipes are never the same file.
void require_distinct_files(std::span<const NamedFile> inputs, std::span<const NamedFile> outputs);

}  // namespace biogpu::io
