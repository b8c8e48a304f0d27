#pragma once

#include <cstdint>

#include "gpu/qc/reads.hpp"

namespace biogpu::gpu {
class Stream;
}

namespace biogpu::gpu::qc {

// fastp's numbers of reads or pairs, a table each. Device memory throughout.
struct DuplicateKeysArgs {
  Reads reads;
  const std::uint32_t* primes = nullptr;  // [n_tables][period]
  std::uint32_t n_tables = 0;
  std::uint32_t period = 0;            // a power of two
  std::uint64_t mask = 0;              // of a key's bits
  unsigned long long* keys = nullptr;  // [n_reads / mates][n_tables]
};

void launch_duplicate_keys(const DuplicateKeysArgs& args, Stream& stream);

}  // namespace biogpu::gpu::qc
