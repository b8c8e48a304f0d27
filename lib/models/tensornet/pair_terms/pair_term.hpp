#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "lib/models/base/potential_model.hpp"

namespace biogpu::models::tensornet {

// A part of the energy that is a sum over pairs of atoms, next to the network: computed on the host
// in double precision for every context, so that a CPU and a GPU add the same numbers.
class PairTerm {
 public:
  struct Value {
    double energy, slope;  // of a pair, and its derivative by the distance
  };
  struct Range {
    double lower = 0, upper = 0;  // Angstrom: lower <= distance < upper
  };
  struct Atom {
    std::int32_t type = 0;
    double partial_charge = 0;
  };

  virtual ~PairTerm() = default;
  PairTerm(const PairTerm&) = delete;
  PairTerm& operator=(const PairTerm&) = delete;

  const Range& range() const { return range_; }
  // Whether it has no upper end: every pair counts once, in a box as torchmd-net's nearest image.
  bool has_all_pairs() const { return range_.upper == HUGE_VAL; }
  // The same for both orders.
  virtual Value value_of(const Atom& a, const Atom& b, double distance) const = 0;

 protected:
  explicit PairTerm(Range range) : range_(range) {}

 private:
  const Range range_;
};

using PairTerms = std::vector<std::unique_ptr<PairTerm>>;

// Adds the term to a system's result; each atom has half of its pairs' energies. types: of the
// atoms. Pairs that the system has are in sorted rows and of a radius of at least the term's range.
// An atom's pairs have a fixed order, and so does the sum over atoms: threads, which share the
// atoms, do not change a bit. Throws Error{bad_input} where
// a pair within the range is there one way round alone.
void add_pair_term(const PairTerm& term, const AtomSystem& system,
                   const std::vector<std::int32_t>& types, const PotentialModel::Request& request,
                   PotentialResult& result);

}  // namespace biogpu::models::tensornet
