#include <cstddef>
#include <deque>
#include <utility>

#include "lib/tasks/molecule/optimizer.hpp"

namespace biogpu::tasks {
namespace {

class Lbfgs : public Optimizer {
 public:
  explicit Lbfgs(double max_step) : max_step_(max_step) {}

  void step(std::vector<double>& x, const std::vector<double>& forces) override {
    remember(x, forces);
    std::vector<double> move = direction(forces);
    limit_step(move, max_step_);
    last_x_ = x;
    last_forces_ = forces;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += move[i];
  }

 private:
  using Vector = std::vector<double>;
  static constexpr std::size_t kMemory = 100;    // steps
  static constexpr double kFirstCurvature = 70;  // eV/Angstrom^2

  struct Pair {
    Vector step, change;  // of the position and of the slope
    double inverse;       // of their product
    double curvature;     // along the change of the slope
  };

  // A step along which the slope did not rise tells no curvature.
  void remember(const Vector& x, const Vector& forces) {
    if (last_x_.empty()) return;
    Pair pair{x, last_forces_, 0, 0};
    for (std::size_t i = 0; i < x.size(); ++i) {
      pair.step[i] -= last_x_[i];
      pair.change[i] -= forces[i];
    }
    const double product = dot(pair.step, pair.change);
    if (!(product > 0)) return;
    pair.inverse = 1 / product;
    pair.curvature = dot(pair.change, pair.change) / product;
    pairs_.push_back(std::move(pair));
    if (pairs_.size() > kMemory) pairs_.pop_front();
  }

  // The two loops of the paper.
  Vector direction(const Vector& forces) const {
    Vector to = forces;
    std::vector<double> weights(pairs_.size());
    for (std::size_t p = pairs_.size(); p-- > 0;) {
      weights[p] = pairs_[p].inverse * dot(pairs_[p].step, to);
      for (std::size_t i = 0; i < to.size(); ++i) to[i] -= weights[p] * pairs_[p].change[i];
    }
    const double curvature = pairs_.empty() ? kFirstCurvature : pairs_.back().curvature;
    for (double& value : to) value /= curvature;
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      const double weight = weights[p] - pairs_[p].inverse * dot(pairs_[p].change, to);
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += weight * pairs_[p].step[i];
    }
    return to;
  }

  const double max_step_;
  std::deque<Pair> pairs_;
  Vector last_x_, last_forces_;
};

}  // namespace

std::unique_ptr<Optimizer> make_lbfgs(double max_step) { return std::make_unique<Lbfgs>(max_step); }

}  // namespace biogpu::tasks
