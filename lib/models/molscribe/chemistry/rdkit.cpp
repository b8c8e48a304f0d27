#include "lib/models/molscribe/chemistry/rdkit.hpp"

#include <stdexcept>

#include "lib/core/module.hpp"

namespace biogpu::models::molscribe {
namespace {

constexpr char kModule[] = "libbiogpu_chemistry.so";

struct Loaded {
  const ChemistryModule* module = nullptr;
  std::string why;
};

Loaded load() {
  Loaded loaded;
  const auto path = find_module(kModule);
  if (path.empty()) {
    loaded.why = std::string(kModule) + " is not installed";
    return loaded;
  }
  using Entry = const ChemistryModule* (*)();
  const auto entry = reinterpret_cast<Entry>(open_module(path, "biogpu_chemistry", &loaded.why));
  if (entry == nullptr) return loaded;
  loaded.module = entry();
  if (loaded.module->interface == ChemistryModule::kInterface) return loaded;
  loaded.module = nullptr;
  loaded.why = path.string() + " is of another version of biogpu";
  return loaded;
}

const Loaded& chemistry_module() {
  static const Loaded loaded = load();
  return loaded;
}

}  // namespace

std::string rdkit_version(std::string* why) {
  const Loaded& loaded = chemistry_module();
  if (loaded.module != nullptr) return loaded.module->version;
  *why = loaded.why;
  return {};
}

Chemistry rdkit_chemistry(const MoleculeGraph& graph, double aspect) {
  const ChemistryModule* const module = chemistry_module().module;
  if (module == nullptr) throw std::logic_error("there is no chemistry module");
  DrawnMolecule drawn;
  for (const GraphAtom& atom : graph.atoms) {
    drawn.symbols.push_back(atom.symbol);
    drawn.x.push_back(atom.x * aspect * 10);
    drawn.y.push_back(1 - atom.y * 10);
  }
  drawn.bonds = graph.bonds;
  return module->convert(drawn);
}

}  // namespace biogpu::models::molscribe
