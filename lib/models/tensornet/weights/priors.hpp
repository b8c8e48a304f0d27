#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/models/base/model_config.hpp"

namespace biogpu::models::tensornet {

// A term that torchmd-net adds to the network's energy (torchmdnet/priors), with its prior_args.
struct Prior {
  enum class Kind { atomref, zbl, d2, coulomb };

  Kind kind = Kind::atomref;
  std::string name;                          // torchmd-net's
  double cutoff = 0;                         // Angstrom
  double switch_begin = 0, switch_end = 0;   // nm: of the Coulomb energy
  double metres_per_length = 0;              // distance_scale
  double joules_per_energy = 0;              // energy_scale
  std::vector<std::int32_t> atomic_numbers;  // by type of atom
  bool is_on = true;                         // Atomref: whether a checkpoint says to add it
};

// The tables of the prior D2 end with xenon.
inline constexpr std::int64_t kDispersionElements = 55;

// prior_model, in every form that torchmd-net takes: a name, names with their arguments, or a list
// of these; prior_args, where it is there, has the arguments instead. Throws Error{bad_input} that
// names the prior or the argument that is not known.
std::vector<Prior> read_priors(const ModelConfig& config);

}  // namespace biogpu::models::tensornet
