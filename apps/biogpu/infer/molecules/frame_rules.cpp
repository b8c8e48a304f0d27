#include "apps/biogpu/infer/molecules/frame_rules.hpp"

#include <fmt/format.h>

namespace biogpu::app {

void FrameRules::apply(molecule::Molecule& molecule, const std::string& place) {
  set_charge(molecule, place);
  if (!molecule.remark.empty()) warn_once(Topic::remark, place + ": " + molecule.remark);
}

void FrameRules::set_charge(molecule::Molecule& molecule, const std::string& place) {
  if (!info_.uses_charge) {
    if (molecule.charge.value_or(0) != 0)
      warn_once(Topic::charge_unused,
                fmt::format("{}: has a charge of {}; the model does not use charges, of no frame",
                            place, *molecule.charge));
    return;
  }
  if (molecule.charge) {
    if (charge_ && *charge_ != *molecule.charge)
      warn_once(Topic::charge_differs,
                fmt::format("{}: has a charge of {}; --charge {} is for frames that tell none",
                            place, *molecule.charge, *charge_));
    return;
  }
  molecule.charge = charge_ ? charge_ : molecule.implied_charge;
  if (molecule.charge || !info_.needs_charge) return;
  molecule.charge = 0;
  warn_once(Topic::charge_unknown,
            fmt::format("{}: tells no charge; it is taken as 0, as for all such frames; --charge "
                        "sets another one",
                        place));
}

}  // namespace biogpu::app
