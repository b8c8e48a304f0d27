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
};

// The tables of the prior D2 end with xenon.
inline constexpr std::int64_t kDispersionElements = 55;

// The list prior_model and its prior_args. Throws Error{bad_input} that names the prior or the
// argument that is not known.
std::vector<Prior> read_priors(const ModelConfig& config);

}  // namespace biogpu::models::tensornet
