#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace biogpu {

// What one stage of a run did: a line of -v and an entry of `stages` in --json. A name with a slash
// is a part of the stage before the slash.
struct StageTimes {
  std::string name;
  int n_threads = 1;
  double wall_s = 0;        // from its first beginning to its last end; 0: not measured
  double busy_s = 0;        // summed over the threads
  double wait_s = 0;        // summed over the threads
  std::string waits_for;    // empty: for nothing that is measured
  std::uint64_t bytes = 0;  // that it took in, or those that it wrote; 0: not known
};

// Times a stage that runs while no other does: its busy seconds are the CPU time of the process.
class StageClock {
 public:
  // threads: that the stage may use.
  StageClock(std::string name, int n_threads);

  // The stage until now.
  StageTimes stop(std::uint64_t bytes = 0) const;

 private:
  StageTimes begun_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double begin_cpu_s_;
};

// CPU time of this process, user and system, over all of its threads.
double process_cpu_seconds();

}  // namespace biogpu
