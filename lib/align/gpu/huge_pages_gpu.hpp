#pragma once

#include <sys/mman.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace biogpu::align {

// Reserves room for n elements in large pages where the system has them, and has all threads of the
// calling task arena ask for the pages: a first touch of tens of megabytes by one thread, in small
// pages, costs more than the kernels that the memory is for.
template <class T>
void reserve_huge(std::vector<T>& elements, std::size_t n) {
  if (n <= elements.capacity()) return;
  elements.reserve(n);
  constexpr std::size_t kPage = std::size_t{1} << 21;
  void* begin = elements.data();
  std::size_t n_bytes = elements.capacity() * sizeof(T);
  if (std::align(kPage, kPage, begin, n_bytes) == nullptr) return;
  // Advice: a system that does not take it loses nothing but time.
  (void)madvise(begin, n_bytes, MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
  tbb::parallel_for(std::size_t{0}, n_bytes / kPage, [begin](std::size_t page) {
    (void)madvise(static_cast<char*>(begin) + page * kPage, kPage, MADV_POPULATE_WRITE);
  });
#endif
}

// The same where `done` of `whole` pairs take n: for a little more than all of them will take, if
// that is not far more than n.
template <class T>
void reserve_growing(std::vector<T>& elements, std::size_t n, std::size_t done, std::size_t whole) {
  if (n <= elements.capacity()) return;
  const double more =
      static_cast<double>(whole) / static_cast<double>(std::max<std::size_t>(done, 1));
  const auto expected = static_cast<std::size_t>(1.05 * more * static_cast<double>(n));
  reserve_huge(elements, std::clamp(expected, n, 4 * n));
}

}  // namespace biogpu::align
