#include "lib/structure/structure.hpp"

#include <algorithm>

#include "lib/io/input/input_suffix.hpp"

namespace biogpu::structure {

std::int64_t Structure::size() const {
  std::int64_t n = 0;
  for (const Chain& chain : chains) n += static_cast<std::int64_t>(chain.sequence.size());
  return n;
}

const Chain* Structure::find(const std::string& chain) const {
  const auto found =
      std::find_if(chains.begin(), chains.end(), [&](const Chain& c) { return c.name == chain; });
  return found == chains.end() ? nullptr : &*found;
}

bool has_structure_suffix(const std::string& path) {
  const std::string suffix = io::input::suffix_of_input(path);
  return suffix == ".pdb" || suffix == ".ent" || suffix == ".cif" || suffix == ".mmcif";
}

}  // namespace biogpu::structure
