#pragma once

#include <cstddef>
#include <functional>

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

// Time spent inside the stages; compute_s is summed over the workers.
struct Times {
  double read_s = 0;
  double compute_s = 0;
  double write_s = 0;
};

// Runs reader -> workers -> ordered writer until read() returns false and all is written. The first
// exception of any stage stops the others after the item they are at and is thrown again here,
// once.
Times run(const Size& size, const Stages& stages);

}  // namespace biogpu::pipeline
