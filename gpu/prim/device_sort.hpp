#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/rt/stream.hpp"

namespace biogpu::gpu {

// Ascending radix sort of n keys from `in` to `out` (device memory, not overlapping), looking at
// bits [0, n_bits). workspace holds at least sort_workspace_bytes() of the same key type and n. The
// vendor's primitive (CUB, hipCUB) behind a plain function: its headers are slow to compile.
std::size_t sort_workspace_bytes_u32(std::size_t n, int n_bits);
std::size_t sort_workspace_bytes_u64(std::size_t n, int n_bits);
void sort_keys(const std::uint32_t* in, std::uint32_t* out, std::size_t n, int n_bits,
               void* workspace, std::size_t workspace_bytes, Stream& stream);
void sort_keys(const std::uint64_t* in, std::uint64_t* out, std::size_t n, int n_bits,
               void* workspace, std::size_t workspace_bytes, Stream& stream);

// The same looking at bits [begin_bit, end_bit), with a workspace of its own size.
std::size_t sort_key_bits_workspace_bytes(std::size_t n, int begin_bit, int end_bit);
void sort_key_bits(const std::uint64_t* in, std::uint64_t* out, std::size_t n, int begin_bit,
                   int end_bit, void* workspace, std::size_t workspace_bytes, Stream& stream);

}  // namespace biogpu::gpu
