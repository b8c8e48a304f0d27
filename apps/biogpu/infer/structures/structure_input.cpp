#include "apps/biogpu/infer/structures/structure_input.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/structure/structure.hpp"

namespace biogpu::app {
namespace {

// As for the shell's *. Archives of macOS have "._a.pdb", which is no structure, with "a.pdb".
bool is_hidden(const std::filesystem::path& path) {
  return path.filename().string().starts_with('.');
}

}  // namespace

std::vector<std::string> find_structures(const std::vector<std::string>& inputs) {
  std::vector<std::string> paths;
  for (const std::string& input : inputs) {
    if (!std::filesystem::is_directory(input)) {
      paths.push_back(input);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& file : std::filesystem::directory_iterator(input))
      if (!is_hidden(file.path()) && structure::has_structure_suffix(file.path().string()))
        found.push_back(file.path().string());
    if (found.empty())
      throw Error(ErrorCode::bad_input,
                  input + ": holds no structure; expected .pdb, .ent, .cif, .mmcif, perhaps .gz");
    std::sort(found.begin(), found.end());
    paths.insert(paths.end(), found.begin(), found.end());
  }
  if (paths.empty()) throw Error(ErrorCode::usage, "no structure is given; see --help");
  return paths;
}

std::vector<report::InputFile> StructureSource::files() const {
  std::vector<report::InputFile> files;
  for (const std::string& path : items()) files.push_back(input_file(path, 1));
  return files;
}

}  // namespace biogpu::app
