#pragma once

#include <utility>

#include "gpu/rt/stream.hpp"

namespace biogpu::gpu {

// Work of a stream recorded once and queued again as one piece, which saves the host's time for
// each kernel. Move only.
class Graph {
 public:
  Graph() = default;
  ~Graph();
  Graph(Graph&& other) noexcept { std::swap(handle_, other.handle_); }
  Graph& operator=(Graph&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  // Records what queue() puts on the stream, which does not run. queue() must neither wait for the
  // stream nor allocate.
  template <class Queue>
  static Graph record(Stream& stream, Queue&& queue) {
    begin(stream);
    try {
      queue();
    } catch (...) {
      abandon(stream);
      throw;
    }
    return end(stream);
  }

  bool empty() const { return handle_ == nullptr; }
  void launch(Stream& stream) const;

 private:
  static void begin(Stream& stream);
  static Graph end(Stream& stream);
  static void abandon(Stream& stream) noexcept;
  void* handle_ = nullptr;  // hipGraphExec_t
};

}  // namespace biogpu::gpu
