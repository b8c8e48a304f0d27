#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lib/tensor/context.hpp"

namespace biogpu::models {

// What a model keeps of windows that were run, in memory of its context: arrays of rows, in which
// every window has a slot. One thread at a time.
class KeptStore {
 public:
  struct Array {
    tensor::DType dtype = tensor::DType::f32;
    std::int64_t n_rows = 0;  // of a window
    std::int64_t width = 0;

    std::size_t bytes() const {
      return static_cast<std::size_t>(n_rows * width) * tensor::bytes_of(dtype);
    }
  };
  // Slot of a window: free again when this and all copies are gone.
  using Slot = std::shared_ptr<const std::size_t>;

  // The context frees the memory. No arrays: nothing is kept.
  explicit KeptStore(tensor::Context& context, std::vector<Array> arrays = {});
  KeptStore(const KeptStore&) = delete;
  KeptStore& operator=(const KeptStore&) = delete;

  const std::vector<Array>& arrays() const { return arrays_; }
  std::size_t n_slots() const { return in_use_->size(); }
  std::size_t window_bytes() const;
  std::size_t bytes() const { return n_slots() * window_bytes(); }  // that are reserved

  // Makes at least so many slots. More than there are: no slot may be in use. Throws
  // Error{device_memory}, and has no slots then.
  void reserve(std::size_t n_slots);
  // The first so many that are free. Reserves them where no slot is in use; throws
  // std::logic_error where more windows are kept than were reserved.
  std::vector<Slot> take(std::size_t n);
  // Rows of all slots, [n_slots * n_rows, width], and of one.
  tensor::Tensor rows(std::size_t array) const;
  tensor::Tensor rows(std::size_t array, std::size_t slot) const;

 private:
  tensor::Context& context_;
  const std::vector<Array> arrays_;
  void* memory_ = nullptr;
  std::shared_ptr<std::vector<bool>> in_use_;  // of each slot; slots may outlive the store
};

}  // namespace biogpu::models
