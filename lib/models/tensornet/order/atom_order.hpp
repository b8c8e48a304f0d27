#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/models/base/potential_model.hpp"
#include "lib/models/tensornet/graph.hpp"

namespace biogpu::models::tensornet {

// Atoms of systems that passes compute along a space-filling curve, so that rows of neighbours are
// near each other in memory. Rows of smaller ones fit caches in any order.
inline constexpr std::size_t kMinOrderedAtoms = 2048;

// Systems as passes compute them: large ones in the order of curve_order(), which positions and box
// alone decide, with their pairs; others as they are. This is the one place that knows both orders.
class AtomOrder {
 public:
  // Throws Error{bad_input} where the positions or pairs of a large system do not fit. Systems are
  // not copied and have to stay as long as this does.
  AtomOrder(std::span<const AtomSystem> systems, const EdgeRule& rule,
            std::size_t min_atoms = kMinOrderedAtoms);
  AtomOrder(const AtomOrder&) = delete;
  AtomOrder& operator=(const AtomOrder&) = delete;

  std::span<const AtomSystem> systems() const { return systems_; }
  // A result of system s with its atoms as the caller has them.
  void restore(std::size_t s, PotentialResult& result) const;

 private:
  std::span<const AtomSystem> systems_;
  // Empty where no system is large; else of all.
  std::vector<AtomSystem> copies_;
  std::vector<std::vector<std::int32_t>> orders_;  // empty: as the caller has it
  std::vector<PairList> pairs_;
};

}  // namespace biogpu::models::tensornet
