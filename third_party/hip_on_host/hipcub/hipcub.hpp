#pragma once

// hipCUB's device-wide primitives on the emulated platform: the same two-call form, the same
// results.
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include <hip/hip_runtime.h>

namespace hipcub {

// Two buffers, one of which holds the data.
template <class T>
struct DoubleBuffer {
  T* d_buffers[2];
  int selector = 0;
  DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
  T* Current() { return d_buffers[selector]; }
  T* Alternate() { return d_buffers[selector ^ 1]; }
};

struct DeviceRadixSort {
  // The same for pairs; the result lies in the other buffers, as it may with CUB.
  template <class Key, class Value>
  static hipError_t SortPairs(void* workspace, std::size_t& workspace_bytes,
                              DoubleBuffer<Key>& keys, DoubleBuffer<Value>& values, std::size_t n,
                              int begin_bit, int end_bit, hipStream_t stream) {
    if (workspace == nullptr) {
      workspace_bytes = 1;
      return hipSuccess;
    }
    const int n_bits = end_bit - begin_bit;
    const Key ones = n_bits >= static_cast<int>(8 * sizeof(Key))
                         ? static_cast<Key>(~Key{0})
                         : static_cast<Key>((Key{1} << n_bits) - 1);
    const Key mask = static_cast<Key>(ones << begin_bit);
    const Key* const from_key = keys.Current();
    const Value* const from_value = values.Current();
    Key* const to_key = keys.Alternate();
    Value* const to_value = values.Alternate();
    keys.selector ^= 1;
    values.selector ^= 1;
    return hip_on_host::queue_kernel(stream, [=] {
      std::vector<std::pair<Key, Value>> pairs;
      for (std::size_t i = 0; i < n; ++i) pairs.emplace_back(from_key[i], from_value[i]);
      std::stable_sort(pairs.begin(), pairs.end(), [=](const auto& a, const auto& b) {
        return (a.first & mask) < (b.first & mask);
      });
      for (std::size_t i = 0; i < n; ++i) {
        to_key[i] = pairs[i].first;
        to_value[i] = pairs[i].second;
      }
    });
  }

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
    return hip_on_host::queue_kernel(stream, [=] {
      std::copy(in, in + n, out);
      std::stable_sort(out, out + n, [=](Key a, Key b) { return (a & mask) < (b & mask); });
    });
  }
};

struct DeviceScan {
  template <class T, class Operation>
  static hipError_t InclusiveScan(void* workspace, std::size_t& workspace_bytes, const T* in,
                                  T* out, Operation operation, std::size_t n, hipStream_t stream) {
    if (workspace == nullptr) {
      workspace_bytes = 1;
      return hipSuccess;
    }
    return hip_on_host::queue_kernel(stream,
                                     [=] { std::inclusive_scan(in, in + n, out, operation); });
  }
  template <class T>
  static hipError_t InclusiveSum(void* workspace, std::size_t& workspace_bytes, const T* in, T* out,
                                 std::size_t n, hipStream_t stream) {
    return InclusiveScan(
        workspace, workspace_bytes, in, out, [](T a, T b) { return a + b; }, n, stream);
  }
};

}  // namespace hipcub
