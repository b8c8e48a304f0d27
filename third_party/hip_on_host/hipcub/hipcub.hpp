#pragma once

// hipCUB's device-wide primitives on the emulated platform: the same two-call form, the same
// results.
#include <algorithm>
#include <cstddef>

#include <hip/hip_runtime.h>

namespace hipcub {

struct DeviceRadixSort {
  // Sorts by bits [begin_bit, end_bit) of the key, stably. With workspace == nullptr only tells its
  // size.
  template <class Key>
  static hipError_t SortKeys(void* workspace, std::size_t& workspace_bytes, const Key* in, Key* out,
                             int n, int begin_bit, int end_bit, hipStream_t stream) {
    if (workspace == nullptr) {
      workspace_bytes = 1;
      return hipSuccess;
    }
    const int n_bits = end_bit - begin_bit;
    const Key ones = n_bits >= static_cast<int>(8 * sizeof(Key))
                         ? static_cast<Key>(~Key{0})
                         : static_cast<Key>((Key{1} << n_bits) - 1);
    const Key mask = static_cast<Key>(ones << begin_bit);
    hip_on_host::queue_on(stream, [=] {
      std::copy(in, in + n, out);
      std::stable_sort(out, out + n, [=](Key a, Key b) { return (a & mask) < (b & mask); });
    });
    return hipSuccess;
  }
};

}  // namespace hipcub
