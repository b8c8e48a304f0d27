// As read_structure.cpp it sees gemmi, and is built as C++17 by clang (CMakeLists.txt).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <gemmi/model.hpp>
#include <map>
#include <tuple>
#include <utility>

#include "lib/core/quote.hpp"
#include "lib/structure/read_parsed.hpp"
#include "lib/structure/residues.hpp"
#include "lib/structure/structure_text.hpp"

namespace biogpu::structure {
namespace {

// An atom with what decides between its locations.
struct Location {
  ResidueAtom atom;
  char letter = '\0';
  float occupancy = 0;
};

struct Variant {
  Residue residue;
  std::vector<Location> locations;
  std::map<std::string, std::size_t> by_name;  // of locations
};

bool is_water(const std::string& name) { return name == "HOH" || name == "WAT"; }

void check_position(const std::string& path, const Residue& residue, const gemmi::Atom& atom) {
  for (const double x : {atom.pos.x, atom.pos.y, atom.pos.z})
    if (!(std::abs(x) <= kMaxCoordinate))
      fail(path, fmt::format("residue {}: a coordinate of {} is {}; expected a number from "
                             "-1000000 to 1000000",
                             residue.label, shortened(atom.name), x));
}

// The higher occupancy counts, then who was there first; none without a letter takes the place of
// another, and of equal ones none keeps it.
bool replaces(const gemmi::Atom& atom, const Location& before) {
  if (atom.altloc == '\0') return false;
  if (before.letter == '\0') return atom.occ >= before.occupancy;
  return atom.occ > before.occupancy || atom.altloc == before.letter;
}

void add_atoms(const std::string& path, const gemmi::Residue& from, Variant& to) {
  for (const gemmi::Atom& atom : from.atoms) {
    check_position(path, to.residue, atom);
    const auto [same, is_new] = to.by_name.try_emplace(atom.name, to.locations.size());
    if (is_new) to.locations.emplace_back();
    Location& location = to.locations[same->second];
    if (!is_new && !replaces(atom, location)) continue;
    location.atom.name = atom.name;
    location.atom.position = {static_cast<float>(atom.pos.x), static_cast<float>(atom.pos.y),
                              static_cast<float>(atom.pos.z)};
    location.letter = atom.altloc;
    location.occupancy = atom.occ;
  }
}

bool has_letters(const Variant& variant) {
  return std::all_of(variant.locations.begin(), variant.locations.end(),
                     [](const Location& location) { return location.letter != '\0'; });
}

// The residues of a chain at one place, which take turns.
using Place = std::vector<Variant>;
// A hetero residue is one by its name, too.
using PlaceKey = std::tuple<std::string, int, char>;

struct ChainPlaces {
  std::map<PlaceKey, std::size_t> keys;
  std::vector<Place> places;
};

void add_residue(const std::string& path, const gemmi::Residue& from, const std::string& chain,
                 ChainPlaces& to) {
  if (is_water(from.name)) return;
  if (!from.seqid.num) fail(path, "chain " + shortened(chain) + ": a residue has no number");
  const bool is_hetero = from.het_flag == 'H';
  const PlaceKey key{is_hetero ? from.name : std::string(), from.seqid.num.value, from.seqid.icode};
  const auto [found, is_new] = to.keys.try_emplace(key, to.places.size());
  if (is_new) to.places.emplace_back();
  Place& place = to.places[found->second];
  auto variant = std::find_if(place.begin(), place.end(),
                              [&](const Variant& one) { return one.residue.name == from.name; });
  if (variant == place.end()) {
    if (place.size() == 1 && !has_letters(place.front())) return;
    place.emplace_back();
    variant = place.end() - 1;
    variant->residue.name = from.name;
    variant->residue.label = shortened(chain) + ":" + from.seqid.str();
  }
  add_atoms(path, from, *variant);
}

void take_residues(std::vector<Place>& places, std::vector<Residue>& residues) {
  for (Place& place : places) {
    Variant& last = place.back();
    for (Location& location : last.locations)
      last.residue.atoms.push_back(std::move(location.atom));
    residues.push_back(std::move(last.residue));
  }
}

}  // namespace

std::vector<Residue> read_residues(const std::string& path) {
  std::string text = read_structure_text(path);
  const gemmi::Structure parsed = read_parsed(path, text, Occupancies::read);
  if (parsed.models.size() > 1)
    fail(path, fmt::format("has {} models; expected one", parsed.models.size()));
  std::vector<Residue> residues;
  // Chains as they begin.
  std::map<std::string, std::size_t> names;
  std::vector<ChainPlaces> chains;
  if (!parsed.models.empty())
    for (const gemmi::Chain& chain : parsed.models.front().chains) {
      const auto [named, is_new] = names.try_emplace(chain.name, chains.size());
      if (is_new) chains.emplace_back();
      for (const gemmi::Residue& residue : chain.residues)
        add_residue(path, residue, chain.name, chains[named->second]);
    }
  for (ChainPlaces& chain : chains) take_residues(chain.places, residues);
  if (residues.empty()) fail(path, "holds no residue but water");
  return residues;
}

}  // namespace biogpu::structure
