#include "lib/models/base/kept_store.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "lib/tensor/arena.hpp"

namespace biogpu::models {
namespace {

std::size_t aligned(std::size_t bytes) {
  constexpr std::size_t kUnit = tensor::Arena::kAlignment;
  return (bytes + kUnit - 1) / kUnit * kUnit;
}

}  // namespace

KeptStore::KeptStore(tensor::Context& context, std::vector<Array> arrays)
    : context_(context),
      arrays_(std::move(arrays)),
      in_use_(std::make_shared<std::vector<bool>>()) {}

std::size_t KeptStore::window_bytes() const {
  std::size_t bytes = 0;
  for (const Array& array : arrays_) bytes += array.bytes();
  return bytes;
}

void KeptStore::reserve(std::size_t n_slots) {
  if (n_slots <= in_use_->size()) return;
  if (std::find(in_use_->begin(), in_use_->end(), true) != in_use_->end())
    throw std::logic_error("more windows are kept than were reserved");
  if (memory_ != nullptr) context_.release(std::exchange(memory_, nullptr));
  in_use_->clear();
  std::size_t bytes = 0;
  for (const Array& array : arrays_) bytes += aligned(n_slots * array.bytes());
  memory_ = context_.allocate(bytes);
  in_use_->resize(n_slots);
}

std::vector<KeptStore::Slot> KeptStore::take(std::size_t n) {
  if (std::count(in_use_->begin(), in_use_->end(), false) < static_cast<std::ptrdiff_t>(n))
    reserve(n);
  std::vector<Slot> slots;
  for (std::size_t slot = 0; slots.size() < n; ++slot) {
    if (slot == n_slots()) throw std::logic_error("more windows are kept than were reserved");
    if ((*in_use_)[slot]) continue;
    (*in_use_)[slot] = true;
    slots.push_back({new std::size_t(slot), [in_use = in_use_](const std::size_t* number) {
                       (*in_use)[*number] = false;
                       delete number;
                     }});
  }
  return slots;
}

tensor::Tensor KeptStore::rows(std::size_t array) const {
  std::size_t begin = 0;
  for (std::size_t a = 0; a < array; ++a) begin += aligned(n_slots() * arrays_[a].bytes());
  const auto n = static_cast<std::int64_t>(n_slots());
  return {static_cast<std::uint8_t*>(memory_) + begin,
          arrays_[array].dtype,
          {n * arrays_[array].n_rows, arrays_[array].width}};
}

tensor::Tensor KeptStore::rows(std::size_t array, std::size_t slot) const {
  const std::int64_t n = arrays_[array].n_rows, first = static_cast<std::int64_t>(slot) * n;
  return rows(array).slice(0, first, first + n);
}

}  // namespace biogpu::models
