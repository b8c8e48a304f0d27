#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace biogpu::align {

// Reserves room for n elements in large pages where the system has them: a first touch of tens of
// megabytes in small ones costs more than the kernels that the memory is for.
template <class T>
void reserve_huge(std::vector<T>& elements, std::size_t n) {
  elements.reserve(n);
  constexpr std::size_t kPage = std::size_t{1} << 21;
  void* begin = elements.data();
  std::size_t n_bytes = elements.capacity() * sizeof(T);
  // Advice: a system that does not take it loses nothing but time.
  if (std::align(kPage, kPage, begin, n_bytes) != nullptr)
    (void)madvise(begin, n_bytes & ~(kPage - 1), MADV_HUGEPAGE);
}

}  // namespace biogpu::align
