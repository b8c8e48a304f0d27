#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "lib/core/stage_times.hpp"

namespace biogpu::pipeline {

// Workers that compute, and items between being read and being written at any time: the bound on
// memory. n_in_flight above n_workers + 1 keeps reading and writing off the workers' critical path.
struct Size {
  int n_workers = 1;
  int n_in_flight = 4;
};

// The caller owns n_in_flight items; a slot is the index of one, used again and again so that its
// buffers stay allocated. A slot belongs to one stage at a time. read() and write() see the items
// in one order; each is called by one thread, write() by the thread that called run().
struct Stages {
  std::function<bool(std::size_t slot)> read;     // false: nothing left, the slot was not filled
  std::function<void(std::size_t slot)> compute;  // any worker, in any order
  std::function<void(std::size_t slot)> write;
};

// Time spent inside the stages and in waiting for each other; compute is summed over the workers.
struct Times {
  double read_s = 0;
  double compute_s = 0;
  double write_s = 0;
  double read_wait_s = 0;     // for a free slot
  double compute_wait_s = 0;  // for an item that is read
  double write_wait_s = 0;    // for the next item to be computed
  double read_wall_s = 0;     // from the first beginning to the last end
  double compute_wall_s = 0;
  double write_wall_s = 0;
  int n_workers = 0;

  Times& operator+=(const Times& other);  // of a later run
};

// The three stages as rows of a report: read, compute, write.
std::vector<StageTimes> stages_of(const Times& times);

// Runs reader -> workers -> ordered writer until read() returns false and all is written. The first
// exception of any stage stops the others after the item they are at and is thrown again here,
// once.
Times run(const Size& size, const Stages& stages);

}  // namespace biogpu::pipeline
