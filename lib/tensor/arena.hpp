#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "lib/tensor/tensor.hpp"

namespace biogpu::tensor {

// Cuts one block of a context's memory into the tensors of a forward pass. A scope gives back at
// its end what was taken inside it, so that liveness follows the braces of the model's code; a
// lease gives back one tensor whenever it ends, for buffers in turn and skip connections. The same
// code gets the same addresses on every run, which captured graphs need: each tensor has the lowest
// place that is free and large enough.
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

  // A contiguous tensor, its contents indeterminate, until the innermost scope ends. Throws
  // Error{device_memory} where no room is left: the arena was measured with another batch.
  Tensor take(DType dtype, std::initializer_list<std::int64_t> shape);

  class Scope {
   public:
    explicit Scope(Arena& arena) : arena_(arena) { ++arena_.depth_; }
    ~Scope() { arena_.end_scope(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Arena& arena_;
  };
  Scope scope() { return Scope(*this); }

  // A tensor of no scope: it is given back when the lease ends or is assigned another.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept { swap(other); }
    Lease& operator=(Lease&& other) noexcept {
      Lease ended(std::move(other));
      swap(ended);
      return *this;
    }
    ~Lease() {
      if (arena_ != nullptr) arena_->end_lease(begin_);
    }

    const Tensor& operator*() const { return tensor_; }
    const Tensor* operator->() const { return &tensor_; }

   private:
    friend class Arena;
    void swap(Lease& other) noexcept {
      std::swap(arena_, other.arena_);
      std::swap(begin_, other.begin_);
      std::swap(tensor_, other.tensor_);
    }

    Arena* arena_ = nullptr;  // outlives the lease
    std::size_t begin_ = 0;
    Tensor tensor_;
  };
  Lease lease(DType dtype, std::initializer_list<std::int64_t> shape);

  const void* memory() const { return memory_; }
  std::size_t peak_bytes() const { return peak_; }

 private:
  static constexpr int kLeased = -1;
  struct Region {
    std::size_t begin = 0, end = 0;
    int depth = 0;  // of the scope that it ends with, or kLeased
  };

  // Where it begins.
  std::size_t place(const Tensor& tensor, int depth);
  Tensor at(Tensor tensor, std::size_t begin) const;
  void end_scope();
  void end_lease(std::size_t begin);

  std::uint8_t* memory_;  // null: measuring
  std::size_t capacity_;
  std::vector<Region> regions_;  // in use, rising
  int depth_ = 0;
  std::size_t peak_ = 0;
};

}  // namespace biogpu::tensor
