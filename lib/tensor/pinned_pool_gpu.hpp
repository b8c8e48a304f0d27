#pragma once

#include <cstddef>
#include <memory>

namespace biogpu::tensor {

// Memory of the host that copies from a device fill at full speed. Making it takes as long as some
// copies, so that what was given back is kept for the next.
class PinnedPool {
 public:
  PinnedPool();

  // Null where other memory does as well: for few bytes, for very many, where kMaxBytes are in use,
  // and where the host has none. Any thread may drop it, also after the pool's end.
  std::shared_ptr<void> take(std::size_t bytes);
  // Whether `memory` is within a piece that was taken and not dropped.
  bool holds(const void* memory) const;

  static constexpr std::size_t kMinBytes = std::size_t{1} << 20;
  static constexpr std::size_t kMaxBytes = std::size_t{2} << 30;  // of all together

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace biogpu::tensor
