#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <vector>

namespace biogpu::align {

// Reserves room for n elements in large pages where the system has them: a first touch of tens of
// megabytes in small ones costs more than the kernels that the memory is for.
template <class T>
void reserve_huge(std::vector<T>& elements, std::size_t n) {
  elements.reserve(n);
  constexpr std::uintptr_t kPage = std::uintptr_t{1} << 21;
  const auto begin = (reinterpret_cast<std::uintptr_t>(elements.data()) + kPage - 1) & ~(kPage - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(elements.data() + elements.capacity());
  // Advice: a system that does not take it loses nothing but time.
  if (end > begin + kPage)
    (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace biogpu::align
