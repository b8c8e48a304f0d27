#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "lib/models/base/pass.hpp"

namespace biogpu::models {

// Many small inputs of a pass, which go to the device in one copy.
class PackedInputs {
 public:
  // Copies the numbers or plain structs. Returns what at() finds them by.
  template <class T>
  std::size_t add(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    begins_.push_back(bytes_.size());
    const std::size_t n = values.size() * sizeof(T);
    sizes_.push_back(n);
    bytes_.resize(bytes_.size() + (n + kAlignment - 1) / kAlignment * kAlignment);
    if (n > 0) std::memcpy(bytes_.data() + begins_.back(), values.data(), n);
    return begins_.size() - 1;
  }
  void upload(Pass& pass) {
    device_ =
        pass.upload(tensor::DType::u8, {static_cast<std::int64_t>(bytes_.size())}, bytes_.data());
    for (const std::size_t size : sizes_) pass.depends_on(size);
  }

  // After upload(); null where the pass is only measured.
  template <class T>
  const T* at(std::size_t piece) const {
    return static_cast<const T*>(address(piece));
  }
  tensor::Tensor at(std::size_t piece, tensor::DType dtype,
                    std::initializer_list<std::int64_t> shape) const {
    return {address(piece), dtype, shape};
  }

 private:
  static constexpr std::size_t kAlignment = tensor::Arena::kAlignment;
  void* address(std::size_t piece) const {
    return device_.data == nullptr ? nullptr : device_.as<std::uint8_t>() + begins_[piece];
  }

  std::vector<std::uint8_t> bytes_;
  std::vector<std::size_t> begins_, sizes_;  // bytes; pieces of other sizes may begin alike
  tensor::Tensor device_;
};

}  // namespace biogpu::models
