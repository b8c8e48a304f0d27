#include "lib/tasks/molecule/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>

namespace biogpu::tasks {
namespace {

using Vector = std::vector<double>;

// In a fixed order, so that a run has the same bytes on any number of threads.
double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Shortens a whole step so that no group of three coordinates moves further.
void limit_step(Vector& step, double max_step) {
  double longest = 0;
  for (std::size_t i = 0; i + 2 < step.size(); i += 3)
    longest = std::max(longest, std::hypot(step[i], step[i + 1], step[i + 2]));
  if (longest > max_step)
    for (double& x : step) x *= max_step / longest;
}

class Fire : public Optimizer {
 public:
  explicit Fire(double max_step) : max_step_(max_step) {}

  void step(Vector& x, const Vector& forces) override {
    velocity_.resize(x.size());
    turn(forces);
    Vector move(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      velocity_[i] += time_ * forces[i];
      move[i] = time_ * velocity_[i];
    }
    limit_step(move, max_step_);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += move[i];
  }

 private:
  static constexpr double kFirstTime = 0.1, kMaxTime = 1.0;  // of a step
  static constexpr double kFirstMixing = 0.1;
  static constexpr int kStepsBeforeFaster = 5;

  // Turns the velocity towards the forces while it goes downhill; stops where it goes uphill.
  void turn(const Vector& forces) {
    if (dot(forces, velocity_) <= 0) {
      std::fill(velocity_.begin(), velocity_.end(), 0.0);
      mixing_ = kFirstMixing;
      if (n_steps_ > 0) time_ *= 0.5;
      n_downhill_ = 0;
      ++n_steps_;
      return;
    }
    const double force = std::sqrt(dot(forces, forces));
    const double scale = force > 0 ? std::sqrt(dot(velocity_, velocity_)) / force : 0;
    for (std::size_t i = 0; i < forces.size(); ++i)
      velocity_[i] = (1 - mixing_) * velocity_[i] + mixing_ * scale * forces[i];
    if (++n_downhill_ > kStepsBeforeFaster) {
      time_ = std::min(time_ * 1.1, kMaxTime);
      mixing_ *= 0.99;
    }
    ++n_steps_;
  }

  const double max_step_;
  Vector velocity_;
  double time_ = kFirstTime;
  double mixing_ = kFirstMixing;
  int n_downhill_ = 0;
  long n_steps_ = 0;
};

class Lbfgs : public Optimizer {
 public:
  explicit Lbfgs(double max_step) : max_step_(max_step) {}

  void step(Vector& x, const Vector& forces) override {
    remember(x, forces);
    Vector move = direction(forces);
    limit_step(move, max_step_);
    last_x_ = x;
    last_forces_ = forces;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += move[i];
  }

 private:
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

std::unique_ptr<Optimizer> make_fire(double max_step) { return std::make_unique<Fire>(max_step); }

std::unique_ptr<Optimizer> make_lbfgs(double max_step) { return std::make_unique<Lbfgs>(max_step); }

std::unique_ptr<Optimizer> make_optimizer(std::string_view name, double max_step) {
  return name == "lbfgs" ? make_lbfgs(max_step) : make_fire(max_step);
}

}  // namespace biogpu::tasks
