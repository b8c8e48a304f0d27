#pragma once

#include <cstdint>

#include "gpu/rt/stream.hpp"

// Launchers of small kernels, one per feature of the kernel language that the project relies on.
// All pointers are device memory; one block of n_threads each unless said otherwise.
namespace biogpu::gpu::test {

// out[block] = sum of in[block * n_threads .. ), through shared memory and __syncthreads.
void launch_block_sum(const std::uint32_t* in, std::uint32_t* out, std::uint32_t n_blocks,
                      unsigned n_threads, Stream& stream);

// Six shuffle results per thread t, at out[6 * t]: shfl from lane 3 of the group, xor 1, up 2 and
// down 2 within groups of `width` lanes, then the width of a wave and the lane.
void launch_shuffles(std::uint32_t* out, unsigned n_threads, int width, Stream& stream);

// out[t] = votes of the wave of thread t on "t is a multiple of three".
void launch_ballots(std::uint64_t* out, unsigned n_threads, Stream& stream);

// Counts in[i] % n_bins for n values with atomics into dynamic shared memory, then into bins.
void launch_histogram(const std::uint32_t* in, std::uint32_t n, std::uint32_t* bins,
                      std::uint32_t n_bins, Stream& stream);

// Threads below n_early leave at once; the others meet at a barrier and count themselves in *count.
void launch_early_exit(std::uint32_t* count, unsigned n_threads, unsigned n_early, Stream& stream);

// Adds to *n_wrong the sums of small packed numbers that are not what i16x2_add_small promises,
// of every number and every third one to add.
void launch_small_sums(std::uint32_t* n_wrong, Stream& stream);

}  // namespace biogpu::gpu::test
