#pragma once

#include <memory>
#include <string_view>
#include <vector>

namespace biogpu::tasks {

// Walks down an energy step by step: it is told energy and slope where it is, and says where to go.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // Moves x. forces: minus the slope at x, of the same size, as many in every call.
  virtual void step(std::vector<double>& x, const std::vector<double>& forces) = 0;

 protected:
  // In a fixed order, so that a run has the same bytes on any number of threads.
  static double dot(const std::vector<double>& a, const std::vector<double>& b);
  // Shortens a whole step so that no group of three coordinates moves further.
  static void limit_step(std::vector<double>& step, double max_step);
};

// FIRE (Bitzek et al. 2006, doi 10.1103/PhysRevLett.97.170201) with its published constants: moves
// with inertia while that goes downhill. No coordinate moves by more than max_step.
std::unique_ptr<Optimizer> make_fire(double max_step);

// L-BFGS (Nocedal 1980; as in Liu and Nocedal 1989, doi 10.1007/BF01589116) without a line search:
// the last 100 steps tell the curvature; the first step is that of 70 eV/Angstrom^2. No atom (three
// coordinates) moves by more than max_step.
std::unique_ptr<Optimizer> make_lbfgs(double max_step);

// "fire" or "lbfgs".
std::unique_ptr<Optimizer> make_optimizer(std::string_view name, double max_step);

}  // namespace biogpu::tasks
