#pragma once

#include <memory>

#include "lib/models/tensornet/pair_terms/pair_term.hpp"
#include "lib/models/tensornet/weights/host_weights.hpp"

namespace biogpu::models::tensornet {

// Screened repulsion of nuclei (Ziegler, Biersack and Littmark 1985) as torchmd-net's prior ZBL has
// it, with a cosine to 0 at the cutoff.
std::unique_ptr<PairTerm> make_zbl(const Prior& prior);

// The same as TensorNet2's `repulsion` has it: other lengths, and a polynomial to 0 at the sum of
// two covalent radii. range: of the network's pairs. factor: of the energy in eV.
std::unique_ptr<PairTerm> make_repulsion(const HostRepulsion& tables, PairTerm::Range range,
                                         double factor);

}  // namespace biogpu::models::tensornet
