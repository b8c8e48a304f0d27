#include "lib/structure/structure.hpp"

#include <algorithm>
#include <string_view>

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
  std::string_view name = path;
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return name.ends_with(".pdb") || name.ends_with(".ent") || name.ends_with(".cif") ||
         name.ends_with(".mmcif");
}

}  // namespace biogpu::structure
