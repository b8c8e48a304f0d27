#include "lib/tensor/arena.hpp"

#include <algorithm>
#include <string>

#include "lib/core/error.hpp"

namespace biogpu::tensor {

std::size_t Arena::place(const Tensor& tensor, int depth) {
  const std::size_t bytes = tensor.bytes();
  std::size_t begin = 0;
  auto next = regions_.begin();
  for (; next != regions_.end(); ++next) {
    if (begin <= next->begin && bytes <= next->begin - begin && bytes > 0) break;
    begin = std::max(begin, (next->end + kAlignment - 1) / kAlignment * kAlignment);
  }
  if (begin > capacity_ || bytes > capacity_ - begin)
    throw Error(ErrorCode::device_memory, "no room for a tensor " + describe(tensor));
  regions_.insert(next, {begin, begin + bytes, depth});
  peak_ = std::max(peak_, begin + bytes);
  return begin;
}

Tensor Arena::at(Tensor tensor, std::size_t begin) const {
  if (memory_ != nullptr) tensor.data = memory_ + begin;
  return tensor;
}

Tensor Arena::take(DType dtype, std::initializer_list<std::int64_t> shape) {
  const Tensor tensor(nullptr, dtype, shape);
  return at(tensor, place(tensor, depth_));
}

Arena::Lease Arena::lease(DType dtype, std::initializer_list<std::int64_t> shape) {
  const Tensor tensor(nullptr, dtype, shape);
  Lease lease;
  lease.begin_ = place(tensor, kLeased);
  lease.tensor_ = at(tensor, lease.begin_);
  lease.arena_ = this;
  return lease;
}

void Arena::end_scope() {
  std::erase_if(regions_, [&](const Region& region) { return region.depth == depth_; });
  --depth_;
}

void Arena::end_lease(std::size_t begin) {
  const auto leased = std::find_if(regions_.begin(), regions_.end(), [&](const Region& region) {
    return region.begin == begin && region.depth == kLeased;
  });
  regions_.erase(leased);
}

}  // namespace biogpu::tensor
