#include "lib/tensor/pinned_pool_gpu.hpp"

#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "gpu/rt/buffer.hpp"
#include "gpu/rt/error.hpp"

namespace biogpu::tensor {

using Memory = gpu::PinnedBuffer<std::uint8_t>;

struct PinnedPool::State {
  std::mutex mutex;
  std::multimap<std::size_t, Memory> free;           // by bytes
  std::map<const std::uint8_t*, std::size_t> taken;  // bytes, by where they begin
  std::size_t bytes = 0;                             // of all, also in use
};

namespace {

// Sizes of batches differ a little: a piece serves a request of at least half of it.
constexpr std::size_t kUnit = std::size_t{1} << 20;

}  // namespace

PinnedPool::PinnedPool() : state_(std::make_shared<State>()) {}

std::shared_ptr<void> PinnedPool::take(std::size_t bytes) {
  if (bytes < kMinBytes || bytes > kMaxBytes / 4) return nullptr;
  State& state = *state_;
  const std::size_t rounded = (bytes + kUnit - 1) / kUnit * kUnit;
  Memory memory;
  {
    const std::lock_guard lock(state.mutex);
    const auto found = state.free.lower_bound(bytes);
    if (found != state.free.end() && found->first <= 2 * rounded) {
      memory = std::move(found->second);
      state.free.erase(found);
    } else {
      while (state.bytes + rounded > kMaxBytes && !state.free.empty()) {
        state.bytes -= state.free.begin()->first;
        state.free.erase(state.free.begin());
      }
      if (state.bytes + rounded > kMaxBytes) return nullptr;
      try {
        memory = Memory(rounded);
      } catch (const gpu::PinnedMemoryError&) {
        return nullptr;
      }
      state.bytes += rounded;
    }
  }
  std::uint8_t* const data = memory.data();
  const std::size_t taken = memory.size();
  std::shared_ptr<Memory> owned;
  try {
    owned = std::make_shared<Memory>(std::move(memory));
    const std::lock_guard lock(state.mutex);
    state.taken.emplace(data, taken);
  } catch (const std::bad_alloc&) {
    const std::lock_guard lock(state.mutex);
    state.bytes -= taken;
    throw;
  }
  return {static_cast<void*>(data), [state = state_, owned](void*) {
            const std::lock_guard lock(state->mutex);
            const std::size_t size = owned->size();
            state->taken.erase(owned->data());
            try {
              state->free.emplace(size, std::move(*owned));
            } catch (const std::bad_alloc&) {
              state->bytes -= size;
            }
          }};
}

bool PinnedPool::holds(const void* memory) const {
  const auto* const at = static_cast<const std::uint8_t*>(memory);
  const std::lock_guard lock(state_->mutex);
  const auto behind = state_->taken.upper_bound(at);
  if (behind == state_->taken.begin()) return false;
  const auto& [begin, bytes] = *std::prev(behind);
  return at < begin + bytes;
}

}  // namespace biogpu::tensor
