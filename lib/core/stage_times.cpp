#include "lib/core/stage_times.hpp"

#include <ctime>
#include <utility>

namespace biogpu {

double process_cpu_seconds() {
  timespec time{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

StageClock::StageClock(std::string name, int n_threads) : begin_cpu_s_(process_cpu_seconds()) {
  begun_.name = std::move(name);
  begun_.n_threads = n_threads;
}

StageTimes StageClock::stop(std::uint64_t bytes) const {
  StageTimes stage = begun_;
  stage.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  stage.busy_s = process_cpu_seconds() - begin_cpu_s_;
  stage.bytes = bytes;
  return stage;
}

}  // namespace biogpu
