#include <algorithm>
#include <cmath>
#include <cstddef>

#include "lib/tasks/molecule/optimizer.hpp"

namespace biogpu::tasks {
namespace {

class Fire : public Optimizer {
 public:
  explicit Fire(double max_step) : max_step_(max_step) {}

  void step(std::vector<double>& x, const std::vector<double>& forces) override {
    velocity_.resize(x.size());
    turn(forces);
    std::vector<double> move(x.size());
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
  void turn(const std::vector<double>& forces) {
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
  std::vector<double> velocity_;
  double time_ = kFirstTime;
  double mixing_ = kFirstMixing;
  int n_downhill_ = 0;
  long n_steps_ = 0;
};

}  // namespace

std::unique_ptr<Optimizer> make_fire(double max_step) { return std::make_unique<Fire>(max_step); }

}  // namespace biogpu::tasks
