#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "lib/core/error.hpp"
#include "lib/tensor/tensor.hpp"

namespace biogpu::tensor {

// Cuts one block of a context's memory into the tensors of a forward pass. A scope gives back at
// its end what was taken inside it, so that liveness follows the braces of the model's code. The
// same code gets the same addresses on every run, which captured graphs need.
//
// A measuring arena has no memory: its tensors have shapes and null addresses, and peak_bytes()
// after a forward pass over a dry run is what a real one needs.
class Arena {
 public:
  static constexpr std::size_t kAlignment = 256;

  static Arena measuring() { return {nullptr, SIZE_MAX / 2}; }
  // memory: of the context, aligned to kAlignment, and not owned.
  Arena(void* memory, std::size_t bytes)
      : memory_(static_cast<std::uint8_t*>(memory)), capacity_(bytes) {}

  // A contiguous tensor, its contents indeterminate. Throws Error{device_memory} where the rest is
  // too small: the arena was measured with another batch.
  Tensor take(DType dtype, std::initializer_list<std::int64_t> shape) {
    Tensor tensor(nullptr, dtype, shape);
    const std::size_t begin = (used_ + kAlignment - 1) / kAlignment * kAlignment;
    if (begin > capacity_ || tensor.bytes() > capacity_ - begin)
      throw Error(ErrorCode::device_memory, "no room for a tensor " + describe(tensor));
    if (memory_ != nullptr) tensor.data = memory_ + begin;
    used_ = begin + tensor.bytes();
    peak_ = std::max(peak_, used_);
    return tensor;
  }

  class Scope {
   public:
    explicit Scope(Arena& arena) : arena_(arena), used_(arena.used_) {}
    ~Scope() { arena_.used_ = used_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Arena& arena_;
    std::size_t used_;
  };
  Scope scope() { return Scope(*this); }

  std::size_t used_bytes() const { return used_; }
  std::size_t peak_bytes() const { return peak_; }

 private:
  std::uint8_t* memory_;  // null: measuring
  std::size_t capacity_;
  std::size_t used_ = 0;
  std::size_t peak_ = 0;
};

}  // namespace biogpu::tensor
