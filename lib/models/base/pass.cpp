#include "lib/models/base/pass.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace biogpu::models {
namespace {

using tensor::DType;
using tensor::Tensor;

// copy_out() takes rows.
Tensor as_rows(const Tensor& tensor) {
  const std::int64_t n_rows = tensor.rank > 1 ? tensor.shape[0] : 1;
  return {tensor.data, tensor.dtype, {n_rows, n_rows == 0 ? 0 : tensor.size() / n_rows}};
}

// Copies are on their way when the array is moved into its place.
static_assert(std::is_nothrow_move_constructible_v<Outputs::Array>);

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace

const Outputs::Array* Outputs::find(std::string_view name) const {
  const auto found = std::find_if(arrays_.begin(), arrays_.end(),
                                  [&](const Array& array) { return array.name == name; });
  return found == arrays_.end() ? nullptr : &*found;
}

const Outputs::Array& Outputs::at(std::string_view name) const {
  const Array* const array = find(name);
  if (array == nullptr) throw std::out_of_range("no output " + std::string(name));
  return *array;
}

void Pass::depends_on(std::uint64_t value) {
  key_ = (key_ ^ value) * 0x9e3779b97f4a7c15u + (key_ >> 29);
}

Tensor Pass::upload(DType dtype, std::initializer_list<std::int64_t> shape, const void* host) {
  const Tensor tensor = arena_.take(dtype, shape);
  if (tensor.size() > 0) context_.copy_in(tensor, host);
  depends_on(static_cast<std::uint64_t>(dtype));
  for (const std::int64_t n : shape) depends_on(static_cast<std::uint64_t>(n));
  return tensor;
}

Tensor Pass::upload(const std::vector<std::int32_t>& numbers) {
  return upload(DType::i32, {static_cast<std::int64_t>(numbers.size())}, numbers.data());
}

Tensor Pass::upload(const std::vector<float>& numbers) {
  return upload(DType::f32, {static_cast<std::int64_t>(numbers.size())}, numbers.data());
}

tensor::Ragged Pass::segments(const std::vector<std::int32_t>& starts) {
  tensor::Ragged segments = context_.upload_ragged(starts, arena_);
  // All of them: operations choose kernels by the length of each segment.
  depends_on(starts.size());
  for (const std::int32_t start : starts) depends_on(static_cast<std::uint64_t>(start));
  return segments;
}

Tensor Pass::output(std::string name, std::initializer_list<std::int64_t> shape, DType dtype) {
  const Tensor tensor = arena_.take(dtype, shape);
  // Not a number until an operation writes it: an output that a model forgot is no old memory.
  using Kind = tensor::Context::Kind;
  if (context_.kind() == Kind::cpu || context_.kind() == Kind::reference) {
    if (dtype == DType::f64)
      std::fill_n(tensor.as<double>(), tensor.size(), std::numeric_limits<double>::quiet_NaN());
    else
      std::fill_n(tensor.as<float>(), tensor.size(), std::numeric_limits<float>::quiet_NaN());
  }
  depends_on(hash_of(name));
  for (const std::int64_t n : shape) depends_on(static_cast<std::uint64_t>(n));
  taken_.push_back({std::move(name), tensor});
  return tensor;
}

Tensor Pass::find(std::string_view name) const {
  for (const Taken& taken : taken_)
    if (taken.name == name) return taken.tensor;
  return {};
}

void Pass::measure(MeasuredPasses& measured, const std::function<void()>& operations) {
  if (const std::size_t* const known = measured.find(key_); known != nullptr) {
    bytes_ = *known;
    return;
  }
  operations();
  bytes_ = arena_.peak_bytes();
  measured.add(key_, bytes_);
}

void Pass::run(const std::function<void()>& operations) {
  if (measured_ != nullptr) return measure(*measured_, operations);
  context_.capture(key_, operations);
  if (outputs_ != nullptr) fetch(*outputs_);
  context_.synchronize();
}

void Pass::fetch(Outputs& outputs) {
  for (const Taken& taken : taken_) {
    const Tensor& tensor = taken.tensor;
    const auto n = static_cast<std::size_t>(tensor.size());
    Outputs::Array array{
        taken.name, {tensor.shape.begin(), tensor.shape.begin() + tensor.rank}, {}, {}};
    if (tensor.dtype == DType::f64) {
      array.doubles.resize(n);
      // Bits, as pairs of 32-bit numbers.
      if (n > 0)
        context_.copy_out(reinterpret_cast<float*>(array.doubles.data()),
                          {tensor.data, DType::f32, {1, 2 * tensor.size()}});
    } else {
      if (n > 0) {
        array.values = io::SharedArray::in(context_.host_memory(n), n);
        context_.copy_out(array.values.data(), as_rows(tensor));
      }
    }
    outputs.add(std::move(array));
  }
}

}  // namespace biogpu::models
