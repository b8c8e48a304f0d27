// The vendor's radix sort of pairs and scans (CUB, hipCUB) behind plain functions: its headers are
// slow to compile.
#include "gpu/prim/device_sort_pairs.hpp"

#include <algorithm>

#include <hipcub/hipcub.hpp>

#include "gpu/rt/check.hpp"

namespace biogpu::gpu {
namespace {

hipStream_t handle_of(Stream& stream) { return static_cast<hipStream_t>(stream.handle()); }

struct Greatest {
  __host__ __device__ std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return a < b ? b : a;
  }
};

}  // namespace

std::size_t sort_pairs_workspace_bytes(std::size_t n) {
  std::size_t bytes = 0;
  hipcub::DoubleBuffer<std::uint64_t> keys(nullptr, nullptr);
  hipcub::DoubleBuffer<std::uint32_t> values(nullptr, nullptr);
  BIOGPU_HIP(hipcub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, values, n, 0, 64, nullptr));
  return bytes;
}

void sort_pairs(SortPairs& pairs, std::size_t n, int n_bits, void* workspace,
                std::size_t workspace_bytes, Stream& stream) {
  const int at = pairs.current;
  hipcub::DoubleBuffer<std::uint64_t> keys(pairs.keys[at], pairs.keys[1 - at]);
  hipcub::DoubleBuffer<std::uint32_t> values(pairs.values[at], pairs.values[1 - at]);
  BIOGPU_HIP(hipcub::DeviceRadixSort::SortPairs(workspace, workspace_bytes, keys, values, n, 0,
                                                n_bits, handle_of(stream)));
  // Keys and values end on the same side: both took as many passes.
  if (keys.Current() != pairs.keys[at]) pairs.current = 1 - at;
}

std::size_t scan_workspace_bytes(std::size_t n) {
  std::size_t sum_bytes = 0;
  std::size_t max_bytes = 0;
  const std::uint32_t* const in = nullptr;
  std::uint32_t* const out = nullptr;
  BIOGPU_HIP(hipcub::DeviceScan::InclusiveSum(nullptr, sum_bytes, in, out, n, nullptr));
  BIOGPU_HIP(
      hipcub::DeviceScan::InclusiveScan(nullptr, max_bytes, in, out, Greatest(), n, nullptr));
  return std::max(sum_bytes, max_bytes);
}

void scan_max(const std::uint32_t* in, std::uint32_t* out, std::size_t n, void* workspace,
              std::size_t workspace_bytes, Stream& stream) {
  BIOGPU_HIP(hipcub::DeviceScan::InclusiveScan(workspace, workspace_bytes, in, out, Greatest(), n,
                                               handle_of(stream)));
}

void scan_sum(const std::uint32_t* in, std::uint32_t* out, std::size_t n, void* workspace,
              std::size_t workspace_bytes, Stream& stream) {
  BIOGPU_HIP(
      hipcub::DeviceScan::InclusiveSum(workspace, workspace_bytes, in, out, n, handle_of(stream)));
}

}  // namespace biogpu::gpu
