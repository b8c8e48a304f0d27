// PDB: each model is a frame.
#include <fmt/format.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "lib/bio/molecule/molecule_reader.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/structure/atoms.hpp"

namespace biogpu::molecule {
namespace {

class PdbReader : public MoleculeReader {
 public:
  explicit PdbReader(const std::string& path)
      : MoleculeReader(io::input::label_of(path)), models_(structure::read_atoms(path)) {}

 private:
  bool read(Molecule& molecule) override {
    if (next_ == models_.size()) return false;
    structure::AtomModel& model = models_[next_++];
    for (std::size_t i = 0; i < model.symbols.size(); ++i)
      if (!molecule.add_element(model.symbols[i]))
        fail(fmt::format("atom {} ({}) has no element in columns 77-78 and none by its name", i + 1,
                         quoted(model.names[i])));
    molecule.positions = std::move(model.positions);
    molecule.charge = model.charge;
    molecule.box = model.box;
    if (!model.other_space_group.empty())
      molecule.remark = fmt::format(
          "CRYST1 has the space group {}; a box is that of P 1, so this is computed without one",
          quoted(model.other_space_group));
    return true;
  }

  bool skip_rest() override { return true; }

  std::vector<structure::AtomModel> models_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<MoleculeReader> open_pdb(const std::string& path) {
  return std::make_unique<PdbReader>(path);
}

}  // namespace biogpu::molecule
