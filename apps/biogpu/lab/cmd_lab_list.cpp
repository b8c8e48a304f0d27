// `biogpu lab list`: the blocks of the laboratory.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "apps/biogpu/lab/commands.hpp"
#include "lib/lab/registry.hpp"

namespace biogpu::app {
namespace {

void list_blocks() {
  std::string text = "block\tshapes\tdescription\n";
  for (const lab::Block& block : lab::blocks()) {
    std::vector<std::string> shapes;
    for (const lab::Extents& extents : block.shapes)
      shapes.push_back(fmt::format("{}x{}", extents.n, extents.c));
    text += fmt::format("{}\t{}\t{}\n", block.label(), fmt::join(shapes, ","), block.description);
  }
  print(text);
}

}  // namespace

Run add_lab_list(CLI::App& command) {
  command.footer(std::string("Columns: block (NAME:VARIANT is another implementation of NAME),\n"
                             "shapes that 'lab run' takes where none are given (tokens x width),\n"
                             "description.\n\n"
                             "Examples:\n"
                             "  biogpu lab list\n\n") +
                 kExitCodes);
  return [](const std::string&) { list_blocks(); };
}

}  // namespace biogpu::app
