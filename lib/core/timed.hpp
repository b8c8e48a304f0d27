#pragma once

#include <chrono>

namespace biogpu {

// What the function returns; the seconds that it took, also where it throws, are added to a total.
template <class Function>
auto timed(double& seconds, Function&& function) {
  using Clock = std::chrono::steady_clock;
  struct Stop {
    double& seconds;
    Clock::time_point begin = Clock::now();
    ~Stop() { seconds += std::chrono::duration<double>(Clock::now() - begin).count(); }
  } stop{seconds};
  return function();
}

}  // namespace biogpu
