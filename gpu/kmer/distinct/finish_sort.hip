// The rest of a sort that has looked at the highest bits only.
//
// Shapes   values[n] u64; groups[max_groups] u64, where groups to be sorted begin.
// Mapping  listing: a thread a value, 256 threads a block. Sorting: a thread a group.
// Traffic  8 n bytes read; groups are a few thousand in hundreds of millions.
// Result   exact where gave_up stays 0; which group is listed where does not matter.
// Limits   groups of kMaxGroup values: a longer one would hold up its thread.
// Source   own.
// Oracle   the sort by all bits.
#include "gpu/kmer/distinct/finish_sort.hpp"

#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::kmer {
namespace {

constexpr unsigned kBlock = 256;
constexpr std::uint32_t kMaxGroup = 1024;

// The thread at the first descent of a group lists it.
__global__ __launch_bounds__(kBlock) void list_groups_kernel(FinishSortArgs a) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x + 1;
  if (i >= a.n) return;
  const std::uint64_t value = a.values[i];
  const std::uint64_t group = value >> a.low_bits;
  std::uint64_t before = a.values[i - 1];
  if (before <= value || before >> a.low_bits != group) return;
  std::uint64_t first = i - 1;
  for (std::uint32_t n = 0; first > 0; ++n) {
    const std::uint64_t next = a.values[first - 1];
    if (next >> a.low_bits != group) break;
    if (next > before) return;  // an earlier descent
    if (n == kMaxGroup) {
      a.flags->gave_up = 1;
      return;
    }
    before = next;
    --first;
  }
  const std::uint32_t at = atomicAdd(&a.flags->n_groups, 1u);
  if (at < a.max_groups)
    a.groups[at] = first;
  else
    a.flags->gave_up = 1;
}

__global__ __launch_bounds__(kBlock) void sort_groups_kernel(FinishSortArgs a) {
  const std::uint32_t n_listed = a.flags->n_groups;
  const std::uint32_t n_groups = n_listed < a.max_groups ? n_listed : a.max_groups;
  for (std::uint32_t g = blockIdx.x * kBlock + threadIdx.x; g < n_groups; g += gridDim.x * kBlock) {
    const std::uint64_t first = a.groups[g];
    const std::uint64_t group = a.values[first] >> a.low_bits;
    // Insertion: most values are equal to their neighbours and stay.
    for (std::uint64_t i = first + 1; i < a.n && a.values[i] >> a.low_bits == group; ++i) {
      if (i - first > kMaxGroup) {
        a.flags->gave_up = 1;
        break;
      }
      const std::uint64_t value = a.values[i];
      std::uint64_t at = i;
      for (; at > first && a.values[at - 1] > value; --at) a.values[at] = a.values[at - 1];
      a.values[at] = value;
    }
  }
}

}  // namespace

void launch_finish_sort(const FinishSortArgs& args, Stream& stream) {
  if (args.n < 2) return;
  constexpr std::size_t kSortBlocks = 256;
  stream.launch(list_groups_kernel, ceil_div<std::size_t>(args.n - 1, kBlock), kBlock, args);
  stream.launch(sort_groups_kernel, kSortBlocks, kBlock, args);
}

}  // namespace biogpu::gpu::kmer
