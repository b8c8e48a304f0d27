#pragma once

#include <string>
#include <string_view>

namespace biogpu::io::input {

// The suffix of an input's name without that of compression, in lower case: ".pdb" of
// "x/1ABC.PDB.gz"; empty where there is none.
inline std::string suffix_of_input(std::string_view path) {
  std::string name(path.substr(path.rfind('/') + 1));
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 ? std::string() : name.substr(dot);
}

}  // namespace biogpu::io::input
