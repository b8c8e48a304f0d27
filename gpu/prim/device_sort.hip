#include "gpu/prim/device_sort.hpp"

#include <hipcub/hipcub.hpp>

#include "gpu/rt/check.hpp"

namespace biogpu::gpu {
namespace {

template <class Key>
std::size_t workspace_bytes_of(std::size_t n, int begin_bit, int end_bit) {
  std::size_t bytes = 0;
  const Key* const in = nullptr;
  Key* const out = nullptr;
  BIOGPU_HIP(hipcub::DeviceRadixSort::SortKeys(nullptr, bytes, in, out, static_cast<int>(n),
                                               begin_bit, end_bit, nullptr));
  return bytes;
}

template <class Key>
void sort(const Key* in, Key* out, std::size_t n, int begin_bit, int end_bit, void* workspace,
          std::size_t workspace_bytes, Stream& stream) {
  BIOGPU_HIP(hipcub::DeviceRadixSort::SortKeys(workspace, workspace_bytes, in, out,
                                               static_cast<int>(n), begin_bit, end_bit,
                                               static_cast<hipStream_t>(stream.handle())));
}

// rocPRIM 6.4 sorts few keys by other bits where the range ends with the highest: the host's shift
// by all bits of a word, from which it makes its mask, leaves the word as it was. By all bits it is
// right.
int first_bit(int begin_bit, int end_bit) {
#if defined(BIOGPU_GPU_ROCM)
  if (end_bit == 64) return 0;
#else
  (void)end_bit;
#endif
  return begin_bit;
}

}  // namespace

std::size_t sort_workspace_bytes_u32(std::size_t n, int n_bits) {
  return workspace_bytes_of<std::uint32_t>(n, 0, n_bits);
}
std::size_t sort_workspace_bytes_u64(std::size_t n, int n_bits) {
  return workspace_bytes_of<std::uint64_t>(n, 0, n_bits);
}
void sort_keys(const std::uint32_t* in, std::uint32_t* out, std::size_t n, int n_bits,
               void* workspace, std::size_t workspace_bytes, Stream& stream) {
  sort(in, out, n, 0, n_bits, workspace, workspace_bytes, stream);
}
void sort_keys(const std::uint64_t* in, std::uint64_t* out, std::size_t n, int n_bits,
               void* workspace, std::size_t workspace_bytes, Stream& stream) {
  sort(in, out, n, 0, n_bits, workspace, workspace_bytes, stream);
}

std::size_t sort_key_bits_workspace_bytes(std::size_t n, int begin_bit, int end_bit) {
  return workspace_bytes_of<std::uint64_t>(n, first_bit(begin_bit, end_bit), end_bit);
}
void sort_key_bits(const std::uint64_t* in, std::uint64_t* out, std::size_t n, int begin_bit,
                   int end_bit, void* workspace, std::size_t workspace_bytes, Stream& stream) {
  sort(in, out, n, first_bit(begin_bit, end_bit), end_bit, workspace, workspace_bytes, stream);
}

}  // namespace biogpu::gpu
