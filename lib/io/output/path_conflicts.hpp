#pragma once

#include <span>
#include <string>

namespace biogpu::io {

// A file of a run and the option that names it. An empty path: not given. "-" is standard input or
// output.
struct NamedFile {
  std::string option;
  std::string path;
};

// Throws Error{usage}, naming both options, where an output is also an input or another output,
// by any name: through another path, a link, a descriptor or by its own name. Inputs include the
// indexes that belong to them (.fai and others, whether they exist or not), standard
// input and output the files that the shell connected to them. An output cannot be the file that
// standard error goes to either, as it would take its place. Two outputs cannot go to one
// descriptor. Devices and pipes are never the same file, except that two inputs cannot be standard
// input or one pipe, of which the second would find nothing.
void require_distinct_files(std::span<const NamedFile> inputs, std::span<const NamedFile> outputs);

// Whether an output's path names a descriptor that the program was started with: nothing can be
// written next to it, and no run goes on with it.
bool is_standard_stream(const std::string& path);

}  // namespace biogpu::io
