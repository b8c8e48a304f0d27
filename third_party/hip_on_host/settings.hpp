#pragma once

#include <cstddef>

namespace hip_on_host {

struct Settings {
  int wave_width = 32;
  int n_devices = 1;
  std::size_t memory_bytes = std::size_t{1} << 30;
  unsigned order_seed = 0;    // 0: threads take their turns in ascending order
  bool has_clusters = false;  // what hip_clusters.h speaks of, and as much shared memory
  bool cuts_sums = false;     // matrix instructions cut sums off, as NVIDIA's do
  int most_shared_bytes() const { return (has_clusters ? 227 : 64) * 1024; }
};

// Read from the environment at the first call; a value out of range ends the program.
const Settings& settings();

}  // namespace hip_on_host
