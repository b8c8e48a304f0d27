#pragma once

#include <cstddef>
#include <cstdint>

namespace biogpu::gpu {
class Stream;
}

namespace biogpu::gpu::kmer {

// How a k-mer becomes its sort key in the order of the database: see lib/kmer/key/key_order.hpp.
struct KeyRule {
  int k = 0;
  int n_words = 1;                        // of a k-mer: 1, 2, 4 or 8, the most significant first
  int size_bits = 0;                      // 0: the sort key is the key
  const std::uint64_t* tables = nullptr;  // [n_tables][256], device memory: key bytes to pos
  int n_tables = 0;
};

// sort_keys[n][n_words] of keys[n][n_words]; device memory, may be the same.
struct EncodeKeysArgs {
  KeyRule rule;
  const std::uint64_t* keys = nullptr;
  std::uint64_t n = 0;
  std::uint64_t* sort_keys = nullptr;
};

void launch_encode_keys(const EncodeKeysArgs& args, Stream& stream);

// A sorted list of sort keys, and for each value of their highest index_bits bits (of 2k) where in
// the list it begins. Device memory.
struct SortKeyTable {
  KeyRule rule;
  const std::uint64_t* sort_keys = nullptr;  // [n][n_words], ascending
  const std::uint64_t* counts = nullptr;     // [n]
  std::uint64_t n = 0;                       // below 2^32
  int index_bits = 0;                        // 1 to 31
  std::uint32_t* begins = nullptr;           // [2^index_bits + 1]
};

// Fills begins.
void launch_index_sort_keys(const SortKeyTable& table, Stream& stream);

struct FindKeysArgs {
  SortKeyTable table;
  const std::uint64_t* keys = nullptr;  // [n][n_words]
  std::uint64_t n = 0;
  std::uint64_t* counts = nullptr;  // [n], written: 0 where the key is absent
};

void launch_find_keys(const FindKeysArgs& args, Stream& stream);

}  // namespace biogpu::gpu::kmer
