#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <typeindex>
#include <unordered_map>
#include <vector>

#include "gpu/ops/elements.hpp"
#include "gpu/ops/query_tiles.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"
#include "lib/tensor/precision.hpp"
#include "lib/tensor/ragged.hpp"

namespace biogpu::gpu::ops {

// Host memory that copies to and from the device pass through: two pieces in turn, each waited for
// before it is used again.
class Staging {
 public:
  // How host memory is copied: for whoever has threads to do it with.
  using Copy = void (*)(void* to, const void* from, std::size_t bytes);
  explicit Staging(Copy copy) : copy_(copy) {}

  static constexpr std::size_t kBytes = std::size_t{32} << 20;
  void to_device(void* device, const void* host, std::size_t bytes, Stream& stream);
  // What the work queued so far leaves there; waits for it.
  void to_host(void* host, const void* device, std::size_t bytes, Stream& stream);

 private:
  struct Piece {
    PinnedBuffer<std::uint8_t> memory;
    Event done;
    bool used = false;
  };
  // The next piece, which no copy uses any more, with room for n bytes.
  Piece& take_piece(std::size_t n);

  Copy copy_;
  Piece pieces_[2];
  int next_ = 0;
};

// What segments need besides their tensors: the work list of attention, in device memory, at the
// same address for every batch as long as it fits, so that captured graphs find it.
class RaggedPlan {
 public:
  const QueryTile* tiles() const { return tiles_.data(); }
  const std::int32_t* n_tiles() const { return n_tiles_.data(); }

 private:
  friend class Device;
  std::shared_ptr<void> loaded_;
  DeviceBuffer<QueryTile> tiles_;
  DeviceBuffer<std::int32_t> n_tiles_;
};

// What the operations of one device share: its queue, its precision, the plan of the segments, and
// what each operation keeps for itself. Not thread-safe.
class Device {
 public:
  // On the device that is current.
  Device(tensor::Precision precision, Staging::Copy copy) : precision_(precision), staging_(copy) {}

  Stream& stream() { return stream_; }
  Staging& staging() { return staging_; }
  tensor::Precision precision() const { return precision_; }

  // Ragged::plan of these segments.
  static std::shared_ptr<void> make_plan(const std::vector<std::int32_t>& starts);
  // Copies it to the device unless it is there already.
  const RaggedPlan& plan(const tensor::Ragged& segments);
  // How often plan() copied: a pass that makes it do so cannot be captured.
  std::uint64_t n_plans_loaded() const { return n_plans_loaded_; }

  // The one State of this device, made by State(Device&) at the first call.
  template <class State>
  State& state() {
    std::shared_ptr<void>& kept = states_[std::type_index(typeid(State))];
    if (kept == nullptr) kept = std::make_shared<State>(*this);
    return *static_cast<State*>(kept.get());
  }

  // At least n elements, contents lost where it grows. Waits for what is queued, which may use the
  // old memory, and counts: captured graphs that may point there are no longer valid.
  template <class T>
  void grow(DeviceBuffer<T>& buffer, std::size_t n) {
    if (buffer.size() >= n) return;
    stream_.synchronize();
    ++n_moves_;  // first: a failed reserve() has already freed the old memory
    buffer.reserve(n);
  }
  std::uint64_t n_moves() const { return n_moves_; }

 private:
  const tensor::Precision precision_;
  Stream stream_;
  Staging staging_;
  RaggedPlan plan_;
  std::uint64_t n_plans_loaded_ = 0;
  std::uint64_t n_moves_ = 0;
  std::unordered_map<std::type_index, std::shared_ptr<void>> states_;
};

}  // namespace biogpu::gpu::ops
