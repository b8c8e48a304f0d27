#pragma once

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace biogpu::tensor {

// body(first, count) for pieces of 0..n by all threads of the calling task arena: for what is only
// moved or converted.
template <class Body>
void for_pieces(std::int64_t n, std::int64_t piece, const Body& body) {
  if (n <= 0) return;
  if (n <= piece) return body(std::int64_t{0}, n);
  tbb::parallel_for(std::int64_t{0}, (n + piece - 1) / piece,
                    [&](std::int64_t i) { body(i * piece, std::min(piece, n - i * piece)); });
}

inline void copy_bytes(void* to, const void* from, std::size_t bytes) {
  constexpr std::int64_t kPiece = std::int64_t{1} << 20;  // less is sooner copied than shared out
  for_pieces(static_cast<std::int64_t>(bytes), kPiece, [&](std::int64_t first, std::int64_t n) {
    std::memcpy(static_cast<char*>(to) + first, static_cast<const char*>(from) + first,
                static_cast<std::size_t>(n));
  });
}

}  // namespace biogpu::tensor
