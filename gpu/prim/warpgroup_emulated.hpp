#pragma once

// warpgroup.hpp on the emulated platform. Copies arrive when the platform likes, in any order, and
// stores read shared memory as late as their waits allow, so that a missing wait shows. What the
// order of two kinds of access to the same memory needs (publish_shared) is not modelled, nor that
// a block of a cluster may end before others have left its shared memory.

#include <cstdint>
#include <cstring>

#include "gpu/prim/number16.hpp"
#include "gpu/prim/wave.hpp"
#include "gpu/rt/hip.hpp"
#include "gpu/rt/tensor_map.hpp"

namespace biogpu::gpu {

// Dynamic shared memory begins at no multiple of what boxes are aligned to.
inline constexpr std::uint32_t kFirstShared = 1040;

inline std::uint32_t shared_address(const void* p) {
  const auto* const first = static_cast<const char*>(hip_on_host::dynamic_shared());
  return kFirstShared + static_cast<std::uint32_t>(static_cast<const char*>(p) - first);
}

namespace detail {

inline std::uint8_t* shared_at(std::uint32_t address) {
  return static_cast<std::uint8_t*>(hip_on_host::dynamic_shared()) + (address - kFirstShared);
}

// What lies at the same place in another block of the cluster.
template <class T>
T* in_block(T* mine, int block) {
  auto* const other = static_cast<std::uint8_t*>(hip_on_host::shared_of_cluster(block));
  return reinterpret_cast<T*>(other + (shared_address(mine) - kFirstShared));
}

// Of one phase: arrivals and bytes that are still to come. Bytes may come before they are
// announced.
struct BarrierState {
  std::int32_t bytes;
  std::int16_t left;
  std::uint8_t n_arrivals, parity;
};
static_assert(sizeof(BarrierState) == sizeof(std::uint64_t));

inline BarrierState state_of(const std::uint64_t* barrier) {
  BarrierState state;
  std::memcpy(&state, barrier, sizeof state);
  return state;
}

inline void count_at(std::uint64_t* barrier, int arrivals, int bytes) {
  BarrierState state = state_of(barrier);
  state.left = static_cast<std::int16_t>(state.left - arrivals);
  state.bytes += bytes;
  if (state.left < 0) hip_on_host::fail("more arrivals at a barrier than it was made for");
  if (state.left == 0 && state.bytes == 0) {
    state.left = state.n_arrivals;
    state.parity ^= 1;
  }
  std::memcpy(barrier, &state, sizeof state);
}

// One box in shared memory and in its matrix.
struct Box {
  BoxedMatrix matrix;
  std::uint8_t* shared;
  std::uint32_t address;  // of `shared`
  int row, column;

  Box(const TensorMap* map, int first_row, int first_column, const void* in_shared)
      : Box(map, -1, first_row, first_column, in_shared) {}
  // layer: -1 of a matrix without layers.
  Box(const TensorMap* map, int layer, int first_row, int first_column, const void* in_shared)
      : shared(static_cast<std::uint8_t*>(const_cast<void*>(in_shared))),
        address(shared_address(in_shared)),
        row(first_row),
        column(first_column) {
    std::memcpy(static_cast<void*>(&matrix), map, sizeof matrix);
    if (address % 128 != 0) hip_on_host::fail("a box in shared memory is not aligned");
    if ((layer >= 0) != (matrix.n_layers > 0))
      hip_on_host::fail("a box of a layer is that of a matrix with layers");
    if (layer < 0) return;
    if (layer >= matrix.n_layers) matrix.n_rows = 0;
    matrix.data = static_cast<const char*>(matrix.data) +
                  layer * matrix.layer_stride * (matrix.number == BoxedMatrix::Number::f32 ? 4 : 2);
  }
  int bytes() const { return 128 * matrix.box_rows; }

  // visit(shared, matrix) for each number of the box; nullptr beyond the matrix.
  template <class Number, class Visit>
  void visit_numbers(Visit&& visit) const {
    constexpr int kInRow = 128 / static_cast<int>(sizeof(Number));
    auto* const data = static_cast<Number*>(const_cast<void*>(matrix.data));
    for (int r = 0; r < matrix.box_rows; ++r) {
      for (int c = 0; c < kInRow; ++c) {
        const std::uint32_t place = address + static_cast<std::uint32_t>(r * 128) +
                                    static_cast<std::uint32_t>(c) * sizeof(Number);
        const std::uint32_t swizzled = place ^ (place >> 7 & 7) << 4;
        const bool inside =
            row + r >= 0 && row + r < matrix.n_rows && column + c < matrix.n_columns;
        visit(reinterpret_cast<Number*>(shared + (swizzled - address)),
              inside ? data + (row + r) * matrix.stride + column + c : nullptr);
      }
    }
  }
  // visit as above, with numbers as wide as the matrix's.
  template <class Visit>
  void visit_bits(Visit&& visit) const {
    if (matrix.number == BoxedMatrix::Number::f32) return visit_numbers<std::uint32_t>(visit);
    visit_numbers<std::uint16_t>(visit);
  }
};

inline void bring_box(const Box& box, std::uint64_t* barrier) {
  hip_on_host::run_beside([=] {
    box.visit_bits([](auto* to, const auto* from) {
      *to = {};
      if (from != nullptr) *to = *from;
    });
    count_at(barrier, 0, -box.bytes());
  });
}

// One box of heads in shared memory and in device memory.
struct HeadBox {
  BoxedHeads heads;
  std::uint8_t* shared;
  std::uint32_t address;  // of `shared`
  int row, head, batch;

  HeadBox(const TensorMap* map, int first_row, int of_head, int of_batch, const void* in_shared)
      : shared(static_cast<std::uint8_t*>(const_cast<void*>(in_shared))),
        address(shared_address(in_shared)),
        row(first_row),
        head(of_head),
        batch(of_batch) {
    std::memcpy(static_cast<void*>(&heads), map, sizeof heads);
    if (address % 128 != 0) hip_on_host::fail("a box in shared memory is not aligned");
  }
  int bytes() const { return 2 * heads.box_columns * heads.box_rows; }

  // visit(shared, heads) for each number of the box; nullptr beyond the heads.
  template <class Visit>
  void visit_numbers(Visit&& visit) const {
    auto* const data = static_cast<std::uint16_t*>(const_cast<void*>(heads.data));
    const std::uint32_t mask = heads.box_columns == 32 ? 3 : 7;
    const bool there = head < heads.n_heads && batch < heads.n_batches;
    for (int r = 0; r < heads.box_rows; ++r) {
      for (int c = 0; c < heads.box_columns; ++c) {
        const std::uint32_t place =
            address + 2 * static_cast<std::uint32_t>(r * heads.box_columns + c);
        const std::uint32_t swizzled = place ^ (place >> 7 & mask) << 4;
        const bool inside = there && row + r >= 0 && row + r < heads.n_rows && c < heads.width;
        const std::int64_t at = batch * heads.batch_stride + (row + r) * heads.row_stride +
                                head * heads.head_stride + c;
        visit(reinterpret_cast<std::uint16_t*>(shared + (swizzled - address)),
              inside ? data + at : nullptr);
      }
    }
  }
};

template <Number16 kType>
void add_numbers16(const Box& box) {
  box.visit_numbers<std::uint16_t>([](const std::uint16_t* from, std::uint16_t* to) {
    if (to == nullptr) return;
    const float sum = number16_value<kType>(*to) + number16_value<kType>(*from);
    *to = static_cast<std::uint16_t>(number16_pair<kType, false>(sum, 0));
  });
}

}  // namespace detail

inline void barrier_init(std::uint64_t* barrier, int n_arrivals) {
  const detail::BarrierState state = {0, static_cast<std::int16_t>(n_arrivals),
                                      static_cast<std::uint8_t>(n_arrivals), 0};
  std::memcpy(barrier, &state, sizeof state);
}
inline void barrier_init_done() {}
inline void barrier_arrive(std::uint64_t* barrier) { detail::count_at(barrier, 1, 0); }
inline void barrier_arrive_at(std::uint64_t* barrier, int block) {
  detail::count_at(detail::in_block(barrier, block), 1, 0);
}
inline void barrier_expect(std::uint64_t* barrier, int bytes) {
  detail::count_at(barrier, 1, bytes);
}
inline bool barrier_try(std::uint64_t* barrier, int parity) {
  return detail::state_of(barrier).parity != parity;
}
inline void barrier_wait(std::uint64_t* barrier, int parity) {
  hip_on_host::wait_until([=] { return barrier_try(barrier, parity); });
}

inline void copy_box(void* to, const TensorMap* map, int row, int column, std::uint64_t* barrier) {
  detail::bring_box({map, row, column, to}, barrier);
}
inline void copy_box_to(void* to, const TensorMap* map, int row, int column, std::uint64_t* barrier,
                        int blocks) {
  for (int block = 0; blocks >> block != 0; ++block) {
    if ((blocks >> block & 1) == 0) continue;
    detail::Box box(map, row, column, to);
    box.shared = detail::in_block(box.shared, block);
    detail::bring_box(box, detail::in_block(barrier, block));
  }
}

inline void copy_head_box(void* to, const TensorMap* map, int row, int head, int batch,
                          std::uint64_t* barrier) {
  const detail::HeadBox box(map, row, head, batch, to);
  hip_on_host::run_beside([=] {
    box.visit_numbers([](std::uint16_t* shared, const std::uint16_t* from) {
      *shared = from == nullptr ? std::uint16_t{0} : *from;
    });
    detail::count_at(barrier, 0, -box.bytes());
  });
}
inline void store_head_box(const TensorMap* map, int row, int head, int batch, const void* from) {
  const detail::HeadBox box(map, row, head, batch, from);
  hip_on_host::add_to_group(hip_on_host::GroupQueue::stores, [=] {
    box.visit_numbers([](const std::uint16_t* shared, std::uint16_t* to) {
      if (to != nullptr) *to = *shared;
    });
  });
}
inline void copy_layer_box(void* to, const TensorMap* map, int layer, int row, int column,
                           std::uint64_t* barrier) {
  detail::bring_box({map, layer, row, column, to}, barrier);
}
inline void copy_layer_box_to(void* to, const TensorMap* map, int layer, int row, int column,
                              std::uint64_t* barrier, int blocks) {
  for (int block = 0; blocks >> block != 0; ++block) {
    if ((blocks >> block & 1) == 0) continue;
    detail::Box box(map, layer, row, column, to);
    box.shared = detail::in_block(box.shared, block);
    detail::bring_box(box, detail::in_block(barrier, block));
  }
}
inline void prefetch_bytes(const void*, std::uint32_t) {}

inline void publish_shared() {}
inline void store_box(const TensorMap* map, int row, int column, const void* from) {
  const detail::Box box(map, row, column, from);
  hip_on_host::add_to_group(hip_on_host::GroupQueue::stores, [=] {
    box.visit_bits([](const auto* shared, auto* to) {
      if (to != nullptr) *to = *shared;
    });
  });
}
inline void store_layer_box(const TensorMap* map, int layer, int row, int column,
                            const void* from) {
  const detail::Box box(map, layer, row, column, from);
  hip_on_host::add_to_group(hip_on_host::GroupQueue::stores, [=] {
    box.visit_bits([](const auto* shared, auto* to) {
      if (to != nullptr) *to = *shared;
    });
  });
}
inline void add_box(const TensorMap* map, int row, int column, const void* from) {
  const detail::Box box(map, row, column, from);
  hip_on_host::add_to_group(hip_on_host::GroupQueue::stores, [=] {
    switch (box.matrix.number) {
      case BoxedMatrix::Number::fp16:
        return detail::add_numbers16<Number16::fp16>(box);
      case BoxedMatrix::Number::bf16:
        return detail::add_numbers16<Number16::bf16>(box);
      case BoxedMatrix::Number::f32:
        return box.visit_numbers<float>([](const float* shared, float* to) {
          if (to != nullptr) *to += *shared;
        });
      case BoxedMatrix::Number::bits16:
        hip_on_host::fail("numbers of no type are added");
    }
  });
}
inline void stores_commit() { hip_on_host::close_group(hip_on_host::GroupQueue::stores); }
template <int kLeft>
void stores_read() {
  hip_on_host::finish_groups(hip_on_host::GroupQueue::stores, kLeft);
}

namespace detail {
// Where this lane's word of tile i lies.
inline std::uint8_t* tile_word(std::uint32_t address, int i) {
  const int lane = wave_lane<32>();
  return shared_at(wave_shuffle<32>(address, 8 * i + lane / 4)) + lane % 4 * 4;
}
}  // namespace detail

inline void store_tiles4(std::uint32_t address, const std::uint32_t* word) {
  for (int i = 0; i < 4; ++i) std::memcpy(detail::tile_word(address, i), word + i, 4);
}
inline void store_turned_tiles4(std::uint32_t address, const std::uint32_t* word) {
  const int lane = wave_lane<32>();
  for (int i = 0; i < 4; ++i) {
    for (int e = 0; e < 2; ++e) {
      // The lane's row is the place in the line of its column.
      const std::uint32_t line = wave_shuffle<32>(address, 8 * i + lane % 4 * 2 + e);
      const auto number = static_cast<std::uint16_t>(word[i] >> 16 * e);
      std::memcpy(detail::shared_at(line) + lane / 4 * 2, &number, sizeof number);
    }
  }
}
inline void load_tiles4(std::uint32_t address, std::uint32_t* word) {
  for (int i = 0; i < 4; ++i) std::memcpy(word + i, detail::tile_word(address, i), 4);
}
inline void store_shared2(std::uint32_t address, float x, float y) {
  const float pair[2] = {x, y};
  std::memcpy(detail::shared_at(address), pair, sizeof pair);
}

template <int kThreads>
void named_barrier(int name) {
  hip_on_host::named_barrier(name, kThreads, true);
}
template <int kThreads>
void named_arrive(int name) {
  hip_on_host::named_barrier(name, kThreads, false);
}
inline int block_of_cluster() { return hip_on_host::cluster_rank(); }
inline void cluster_barrier() { hip_on_host::cluster_barrier(); }
template <int kRegisters>
void take_registers() {}
template <int kRegisters>
void give_registers() {}

}  // namespace biogpu::gpu
