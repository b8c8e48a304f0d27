#include "lib/models/tensornet/pair_terms/coulomb.hpp"

#include <cmath>
#include <numbers>

namespace biogpu::models::tensornet {
namespace {

class CoulombTerm final : public PairTerm {
 public:
  explicit CoulombTerm(const Prior& prior)
      : PairTerm({0, HUGE_VAL}),
        begin_(prior.switch_begin),
        end_(prior.switch_end),
        nm_(prior.metres_per_length * 1e9),
        // torchmd-net's e^2 / (4 pi epsilon_0) in J m. It divides by nm for every unit of length:
        // weights were trained with that.
        coulomb_(2.30707e-28 / prior.joules_per_energy / prior.metres_per_length) {}

  Value value_of(const Atom& a, const Atom& b, double d) const override {
    const double distance = nm_ * d;
    if (distance <= begin_) return {};
    const double full = coulomb_ * a.partial_charge * b.partial_charge / distance;
    if (distance >= end_) return {full, -full / d};
    const double angle = std::numbers::pi / (end_ - begin_);
    const double share = 0.5 - 0.5 * std::cos(angle * (distance - begin_));
    const double share_slope = 0.5 * angle * nm_ * std::sin(angle * (distance - begin_));
    return {share * full, full * (share_slope - share / d)};
  }

 private:
  const double begin_, end_;  // nm
  const double nm_;           // in an Angstrom of the checkpoint
  const double coulomb_;
};

}  // namespace

std::unique_ptr<PairTerm> make_coulomb(const Prior& prior) {
  return std::make_unique<CoulombTerm>(prior);
}

}  // namespace biogpu::models::tensornet
