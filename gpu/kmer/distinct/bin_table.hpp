#pragma once

// For .hip files: a table that counts, in the shared memory of a block.
#include <cstdint>

#include "gpu/kmer/block_sum.hpp"
#include "gpu/prim/wave.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::kmer {

// Counts values by open addressing from the slot that their highest bits name, so that slots are in
// order but for neighbours: Amble and Knuth, doi:10.1093/comjnl/17.2.135. All kThreads threads of a
// block call everything but add(), with a barrier between.
template <unsigned kThreads>
class BinTable {
 public:
  using Word = unsigned long long;       // as atomics take it
  static constexpr Word kEmpty = ~0ull;  // not to be added

  static __host__ __device__ constexpr std::size_t bytes(int table_bits) {
    return slots(table_bits) * (sizeof(Word) + sizeof(std::uint32_t)) +
           (2 * (slots(table_bits) / 32) + 1) * sizeof(std::uint32_t);
  }

  __device__ BinTable(Word* shared, int table_bits)
      : n_slots_(slots(table_bits)),
        key_(shared),
        count_(reinterpret_cast<std::uint32_t*>(shared + n_slots_)),
        taken_(count_ + n_slots_),
        before_(taken_ + n_slots_ / 32 + 1) {}

  __device__ void clear() {
    for (unsigned slot = threadIdx.x; slot < n_slots_; slot += kThreads) {
      key_[slot] = kEmpty;
      count_[slot] = 0;
    }
    if (threadIdx.x == 0) taken_[n_slots_ / 32] = 0;  // ends the last cluster
  }

  // False where there is no room near its slot.
  __device__ bool add(Word key, unsigned slot) {
    for (unsigned probe = 0; probe < kMaxProbe; ++probe, ++slot) {
      Word found = key_[slot];
      if (found == kEmpty) {
        found = atomicCAS(&key_[slot], kEmpty, key);
        if (found == kEmpty) found = key;
      }
      if (found == key) {
        atomicAdd(&count_[slot], 1u);
        return true;
      }
    }
    return false;
  }

  // Notes which slots are taken, and how many before each word of them. Returns how many in all.
  // The loop's end is the same for a whole wave: slots are a multiple of 128.
  template <int kWave>
  __device__ std::uint32_t number(std::uint32_t* wave_sums) {
    for (unsigned slot = threadIdx.x; slot < n_slots_; slot += kThreads) {
      const std::uint64_t taken = wave_ballot<kWave>(count_[slot] != 0);
      if (wave_lane<kWave>() != 0) continue;
      taken_[slot / 32] = static_cast<std::uint32_t>(taken);
      if (kWave == 64) taken_[slot / 32 + 1] = static_cast<std::uint32_t>(taken >> 32);
    }
    __syncthreads();
    const unsigned t = threadIdx.x;
    const bool has_word = t < n_slots_ / 32;
    std::uint32_t total = 0;
    const std::uint32_t before = block_sum_before<kWave, kThreads>(
        has_word ? static_cast<std::uint32_t>(__popc(taken_[t])) : 0, wave_sums, &total);
    if (has_word) before_[t] = before;
    return total;
  }

  // Orders each cluster of taken slots: a value lies in the cluster of its slot, so clusters
  // are in order. False where one is too long.
  __device__ bool order() {
    bool done = true;
    for (unsigned slot = threadIdx.x; slot < n_slots_; slot += kThreads) {
      const bool begins = is_taken(slot) && (slot == 0 || !is_taken(slot - 1));
      if (begins && is_taken(slot + 1)) done = order_cluster(slot) && done;
    }
    return done;
  }

  // visit(i, key, count) for each, where i counts them in order.
  template <class Visit>
  __device__ void for_each(Visit&& visit) const {
    for (unsigned slot = threadIdx.x; slot < n_slots_; slot += kThreads) {
      if (!is_taken(slot)) continue;
      const std::uint32_t lower = taken_[slot / 32] & ((1u << slot % 32) - 1);
      visit(before_[slot / 32] + static_cast<std::uint32_t>(__popc(lower)), key_[slot],
            count_[slot]);
    }
  }

 private:
  static constexpr unsigned kMaxProbe = 128;
  static constexpr unsigned kMaxCluster = 512;

  // Those behind the last that a value can name take what is pushed beyond.
  static __host__ __device__ constexpr unsigned slots(int table_bits) {
    return (1u << table_bits) + kMaxProbe;
  }

  __device__ bool is_taken(unsigned slot) const {
    return (taken_[slot / 32] >> slot % 32 & 1) != 0;
  }

  __device__ bool order_cluster(unsigned first) {
    for (unsigned slot = first + 1; is_taken(slot); ++slot) {
      if (slot - first > kMaxCluster) return false;
      const Word key = key_[slot];
      const std::uint32_t count = count_[slot];
      unsigned at = slot;
      for (; at > first && key_[at - 1] > key; --at) {
        key_[at] = key_[at - 1];
        count_[at] = count_[at - 1];
      }
      key_[at] = key;
      count_[at] = count;
    }
    return true;
  }

  const unsigned n_slots_;
  Word* const key_;
  std::uint32_t* const count_;
  std::uint32_t* const taken_;   // [n_slots / 32 + 1], a bit a slot
  std::uint32_t* const before_;  // [n_slots / 32]
};

}  // namespace biogpu::gpu::kmer
