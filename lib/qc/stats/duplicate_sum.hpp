#pragma once

#include <cstddef>
#include <cstdint>

namespace biogpu::qc {

// The sum of primes[i] times fastp's value of base i (A 7, T 222, C 74, G 31, others 13) over n
// bases, which are followed by 64 readable bytes. The second is the plain version.
std::uint64_t sum_of_bases(const char* bases, const std::uint32_t* primes, std::size_t n);
std::uint64_t sum_of_bases_ref(const char* bases, const std::uint32_t* primes, std::size_t n);

}  // namespace biogpu::qc
