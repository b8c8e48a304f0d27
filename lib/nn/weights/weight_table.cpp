#include "lib/nn/weights/weight_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "lib/core/error.hpp"

namespace biogpu::nn {
namespace {

constexpr std::size_t kMaxListed = 10;

void list(std::string& text, const char* what, const std::vector<std::string>& names) {
  if (names.empty()) return;
  const std::size_t n = std::min(names.size(), kMaxListed);
  text +=
      fmt::format("{}{} {}: {}", text.empty() ? "" : "; ", names.size(), what,
                  fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(n), ", "));
  if (n < names.size()) text += ", ...";
}

// Without a branch a number, so that it takes little beside reading the file.
bool all_finite(const std::vector<float>& values) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  bool finite = true;
  for (const float value : values)
    finite &= (std::bit_cast<std::uint32_t>(value) & kExponent) != kExponent;
  return finite;
}

}  // namespace

void WeightTable::alias_prefix(std::string_view from, std::string_view to) {
  prefixes_.emplace_back(from, to);
}
void WeightTable::alias_suffix(std::string_view from, std::string_view to) {
  suffixes_.emplace_back(from, to);
}
void WeightTable::ignore_prefix(std::string_view prefix) { ignored_prefixes_.emplace_back(prefix); }
void WeightTable::ignore_suffix(std::string_view suffix) { ignored_suffixes_.emplace_back(suffix); }

void WeightTable::index() {
  for (const auto& [stored, tensor] : checkpoint_.tensors()) {
    std::string name = stored;
    for (const auto& [from, to] : prefixes_)
      if (name.starts_with(from)) {
        name.replace(0, from.size(), to);
        break;
      }
    for (const auto& [from, to] : suffixes_)
      if (name.ends_with(from)) {
        name.replace(name.size() - from.size(), from.size(), to);
        break;
      }
    known_.emplace(name, &tensor);
  }
}

const StoredTensor* WeightTable::find(const std::string& name) {
  if (known_.empty()) index();
  const auto found = known_.find(name);
  return found == known_.end() ? nullptr : found->second;
}

bool WeightTable::has(const std::string& name) { return find(name) != nullptr; }

HostTensor WeightTable::take(const std::string& name, std::initializer_list<std::int64_t> shape) {
  HostTensor weight;
  weight.view = Tensor(nullptr, DType::f32, shape);
  weight.values.resize(static_cast<std::size_t>(weight.view.size()));
  weight.view.data = weight.values.data();
  taken_.insert(name);
  const StoredTensor* const stored = find(name);
  if (stored == nullptr) {
    missing_.push_back(name);
  } else if (!std::equal(shape.begin(), shape.end(), stored->shape.begin(), stored->shape.end())) {
    misshapen_.push_back(
        fmt::format("{} {} instead of {}", name,
                    describe_shape(stored->shape.data(), static_cast<int>(stored->shape.size())),
                    describe_shape(weight.view.shape.data(), weight.view.rank)));
  } else if (!stored->to_floats(weight.values.data())) {
    misshapen_.push_back(fmt::format("{} of type {}", name, stored->type));
  } else if (!all_finite(weight.values)) {
    not_finite_.push_back(name);
  }
  return weight;
}

Linear WeightTable::take_linear(Backend& backend, const std::string& name, std::int64_t n_out,
                                std::int64_t n_in) {
  const HostTensor weight = take(name + ".weight", {n_out, n_in});
  const HostTensor bias = take(name + ".bias", {n_out});
  return backend.upload_linear(weight.view, bias.view);
}

Norm WeightTable::take_norm(Backend& backend, const std::string& name, std::int64_t d, float eps) {
  const HostTensor weight = take(name + ".weight", {d});
  const HostTensor bias = take(name + ".bias", {d});
  return {backend.upload(weight.view, DType::f32), backend.upload(bias.view, DType::f32), eps};
}

void WeightTable::finish() {
  std::vector<std::string> unknown;
  if (known_.empty()) index();
  for (const auto& [name, tensor] : known_) {
    const std::string& given = name;  // a lambda cannot capture a structured binding
    const auto begins = [&given](const std::string& p) { return given.starts_with(p); };
    const auto ends = [&given](const std::string& s) { return given.ends_with(s); };
    if (taken_.count(name) == 0 &&
        std::none_of(ignored_prefixes_.begin(), ignored_prefixes_.end(), begins) &&
        std::none_of(ignored_suffixes_.begin(), ignored_suffixes_.end(), ends))
      unknown.push_back(name);
  }
  std::string text;
  list(text, "tensors are missing", missing_);
  list(text, "have another shape or type", misshapen_);
  list(text, "hold NaN or an infinity", not_finite_);
  list(text, "are unknown", unknown);
  if (!text.empty()) throw Error(ErrorCode::bad_input, checkpoint_.files().front() + ": " + text);
}

}  // namespace biogpu::nn
