#include "lib/tasks/molecule/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace biogpu::tasks {

double Optimizer::dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void Optimizer::limit_step(std::vector<double>& step, double max_step) {
  double longest = 0;
  for (std::size_t i = 0; i + 2 < step.size(); i += 3)
    longest = std::max(longest, std::hypot(step[i], step[i + 1], step[i + 2]));
  if (longest > max_step)
    for (double& x : step) x *= max_step / longest;
}

std::unique_ptr<Optimizer> make_optimizer(std::string_view name, double max_step) {
  return name == "lbfgs" ? make_lbfgs(max_step) : make_fire(max_step);
}

}  // namespace biogpu::tasks
