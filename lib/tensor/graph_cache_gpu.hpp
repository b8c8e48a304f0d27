#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>

#include "gpu/ops/device.hpp"
#include "gpu/rt/graph.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::tensor {

// Passes that Context::capture() runs, as captured graphs from the second run of a key on.
class GraphCache {
 public:
  // Graphs go where operations moved what they keep on the device.
  void run(std::uint64_t key, const std::function<void()>& body, gpu::ops::Device& device);
  // Of the last run; waits for it.
  double seconds() const;
  void clear() { passes_.clear(); }

 private:
  struct Pass {
    bool ran = false;
    bool can_repeat = true;
    gpu::Graph graph;
  };
  std::unordered_map<std::uint64_t, Pass> passes_;
  std::uint64_t n_moves_ = 0;
  gpu::Event started_, stopped_;
};

}  // namespace biogpu::tensor
