#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>

#include "gpu/rt/graph.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::nn {

// Passes that Backend::run_captured() runs, as recorded graphs from the second run of a key on.
class RecordedPasses {
 public:
  // Where lies what recordings point to beside the memory of arenas.
  using Room = std::array<const void*, 6>;

  // room: asked after the pass; recordings go where it is another than before.
  void run(std::uint64_t key, const std::function<void()>& body, const std::function<Room()>& room,
           gpu::Stream& stream);
  // Of the last run; waits for it.
  double seconds() const;
  void clear() { passes_.clear(); }

 private:
  struct Pass {
    bool ran = false;
    gpu::Graph graph;
  };
  std::unordered_map<std::uint64_t, Pass> passes_;
  Room room_{};
  gpu::Event started_, stopped_;
};

}  // namespace biogpu::nn
