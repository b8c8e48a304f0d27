// PDB: each model is a frame.
#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "lib/bio/molecule/molecule_reader.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/structure/atoms.hpp"
#include "lib/structure/elements.hpp"

namespace biogpu::molecule {
namespace {

class PdbReader : public MoleculeReader {
 public:
  explicit PdbReader(const std::string& path)
      : MoleculeReader(io::input::label_of(path)), file_(structure::read_atoms(path)) {}

 private:
  bool read(Molecule& molecule) override {
    if (next_ == file_.models.size()) return false;
    structure::AtomModel& model = file_.models[next_++];
    for (std::size_t i = 0; i < model.atomic_numbers.size(); ++i)
      if (model.atomic_numbers[i] < 1 || model.atomic_numbers[i] > structure::kMaxAtomicNumber)
        fail(fmt::format("atom {} ({}) has no element in columns 77-78 and none by its name", i + 1,
                         quoted(model.names[i])));
    molecule.atomic_numbers = std::move(model.atomic_numbers);
    molecule.positions = std::move(model.positions);
    molecule.charge = model.charge;
    molecule.box = file_.box;
    return true;
  }

  bool skip_rest() override { return true; }

  structure::AtomFile file_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<MoleculeReader> open_pdb(const std::string& path) {
  return std::make_unique<PdbReader>(path);
}

}  // namespace biogpu::molecule
