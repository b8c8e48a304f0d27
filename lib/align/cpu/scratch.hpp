#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace biogpu::align {

// Memory for vectors: aligned to a cache line, grown and never shrunk, contents lost on growth.
class AlignedBuffer {
 public:
  template <class T>
  T* get(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    if (bytes > bytes_) {
      data_.reset();
      bytes_ = 0;
      const std::size_t rounded = (bytes + bytes / 4 + 127) / 64 * 64;
      data_.reset(static_cast<std::byte*>(std::aligned_alloc(64, rounded)));
      if (data_ == nullptr) throw std::bad_alloc();
      bytes_ = rounded;
    }
    return reinterpret_cast<T*>(data_.get());
  }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t bytes_ = 0;
};

// What one thread keeps between groups, so that a batch allocates nothing once warm.
struct Scratch {
  AlignedBuffer h, e;           // one matrix column, or the border row of a long pair
  AlignedBuffer query, target;  // residue codes, one vector per position
  AlignedBuffer profile;        // per lane: scores of every class against its query
  AlignedBuffer scores;         // scores of one column, or of one class, one vector each
  AlignedBuffer offsets;        // which vector of `scores` a row takes
  AlignedBuffer row_masks;      // which lanes end in a row
  AlignedBuffer border;         // H and F of the row above a tile
  AlignedBuffer trace;
};

}  // namespace biogpu::align
