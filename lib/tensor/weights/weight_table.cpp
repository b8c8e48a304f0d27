#include "lib/tensor/weights/weight_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "lib/core/error.hpp"
#include "lib/core/parallel_for.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::tensor {
namespace {

constexpr std::size_t kMaxListed = 10;
// Limit of all names that a message lists, and of one with its shape: a message stays one line that
// can be read.
constexpr std::size_t kMaxListBytes = 360;
constexpr std::size_t kMaxNameBytes = 100;
// Numbers that stay in a core's cache from being converted to being looked at.
constexpr std::size_t kChunk = std::size_t{1} << 16;

// A kind of defect and the tensors that have it.
struct DefectKind {
  const char* what;
  const std::vector<std::string>& names;
};

// As many names of each kind as there is room for, one at least.
std::string list(std::initializer_list<DefectKind> kinds) {
  const auto n_kinds = static_cast<std::size_t>(std::count_if(
      kinds.begin(), kinds.end(), [](const auto& kind) { return !kind.names.empty(); }));
  std::string text;
  for (const auto& [what, names] : kinds) {
    if (names.empty()) continue;
    text += fmt::format("{}{} {}: ", text.empty() ? "" : "; ", names.size(), what);
    std::size_t n = 0, room = kMaxListBytes / n_kinds;
    for (; n < std::min(names.size(), kMaxListed); ++n) {
      const std::string name = (n > 0 ? ", " : "") + shortened(names[n], kMaxNameBytes);
      if (n > 0 && name.size() > room) break;
      room -= std::min(room, name.size());
      text += name;
    }
    if (n < names.size()) text += ", ...";
  }
  return text;
}

// Without what programs of training put in front of a model's own names: PyTorch's wrappers of a
// model for several devices and for its compiler, and a training class that holds it as `model`.
std::string_view unwrapped(std::string_view name) {
  constexpr std::string_view kWrappers[] = {"module.", "model.", "_orig_mod."};
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view wrapper : kWrappers)
      if (name.starts_with(wrapper)) {
        name.remove_prefix(wrapper.size());
        found = true;
      }
  }
  return name;
}

// Without a branch a number, so that it takes little beside reading the file.
bool all_finite(const float* values, std::int64_t n) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  std::uint32_t n_others = 0;
  for (std::int64_t i = 0; i < n; ++i)
    n_others += (std::bit_cast<std::uint32_t>(values[i]) & kExponent) == kExponent ? 1 : 0;
  return n_others == 0;
}

}  // namespace

void WeightTable::alias_prefix(std::string_view from, std::string_view to) {
  prefixes_.push_back({std::string(from), std::string(to), false});
}
void WeightTable::alias_copies(std::string_view from, std::string_view to) {
  prefixes_.push_back({std::string(from), std::string(to), true});
}
void WeightTable::alias_suffix(std::string_view from, std::string_view to) {
  suffixes_.emplace_back(from, to);
}

void WeightTable::index() {
  for (const auto& [stored, tensor] : checkpoint_.tensors()) {
    std::string name(unwrapped(stored));
    for (const auto& [from, to, copies] : prefixes_)
      if (name.starts_with(from)) {
        name.replace(0, from.size(), to);
        break;
      }
    for (const auto& [from, to] : suffixes_)
      if (name.ends_with(from)) {
        name.replace(name.size() - from.size(), from.size(), to);
        break;
      }
    const auto [place, is_first] = known_.emplace(name, &tensor);
    if (!is_first) note_double(stored, name, *place->second);
  }
}

void WeightTable::note_double(const std::string& stored, const std::string& name,
                              const StoredTensor& first) {
  const StoredTensor& tensor = checkpoint_.tensors().at(stored);
  const bool may_be_copy = std::any_of(prefixes_.begin(), prefixes_.end(), [&](const Prefix& p) {
    return p.copies && name.starts_with(p.to);
  });
  if (!may_be_copy) {
    doubled_.push_back(stored);
  } else if (tensor.type != first.type || tensor.shape != first.shape ||
             (maps_ == Maps::read && std::memcmp(tensor.data, first.data, tensor.bytes) != 0)) {
    unequal_copies_.push_back(stored);
  }
}

const StoredTensor* WeightTable::find(const std::string& name) {
  if (known_.empty()) index();
  const auto found = known_.find(name);
  return found == known_.end() ? nullptr : found->second;
}

bool WeightTable::has(const std::string& name) { return find(name) != nullptr; }

bool WeightTable::has_prefix(std::string_view prefix) {
  if (known_.empty()) index();
  const auto first = known_.lower_bound(prefix);
  return first != known_.end() && first->first.starts_with(prefix);
}

std::int64_t WeightTable::n_rows(const std::string& name) {
  const StoredTensor* const stored = find(name);
  return stored == nullptr || stored->shape.empty() ? 1 : stored->shape.front();
}

std::uint64_t WeightTable::n_taken() const {
  std::uint64_t n = 0;
  for (const std::string& name : taken_) {
    const auto found = known_.find(name);
    if (found != known_.end()) n += static_cast<std::uint64_t>(found->second->size());
  }
  return n;
}

HostTensor WeightTable::take(const std::string& name, std::initializer_list<std::int64_t> shape) {
  HostTensor weight;
  weight.view = Tensor(nullptr, DType::f32, shape);
  const StoredTensor* const stored = find_fitting(name, weight.view);
  // What does not fit becomes zeros; but not gigabytes of them for a number of config.json.
  if (stored == nullptr && weight.view.size() > checkpoint_.n_numbers())
    throw Error(ErrorCode::bad_input, checkpoint_.files().front() + ": " + defects());
  weight.values = BigArray<float>(static_cast<std::size_t>(weight.view.size()));
  weight.view.data = weight.values.data();
  if (stored != nullptr) {
    weight.found = read(name, *stored, weight.view, 1);
  } else {
    std::fill_n(weight.values.data(), weight.values.size(), 0.0f);
  }
  return weight;
}

std::vector<double> WeightTable::take_doubles(const std::string& name,
                                              std::initializer_list<std::int64_t> shape) {
  const HostTensor rounded = take(name, shape);
  const float* const values = rounded.values.data();
  std::vector<double> numbers(values, values + rounded.view.size());
  const StoredTensor* const stored = find(name);
  if (rounded.found && stored->type == "F64")
    std::memcpy(numbers.data(), stored->data, numbers.size() * sizeof(double));
  return numbers;
}

double WeightTable::take_scalar(const std::string& name) {
  const StoredTensor* const stored = find_fitting(name, Tensor(nullptr, DType::f32, {}));
  float rounded = 0;
  if (stored == nullptr) return 0;
  stored->to_floats(&rounded);
  double value = rounded;
  if (stored->type == "F64") std::memcpy(&value, stored->data, sizeof value);
  if (std::isfinite(rounded)) return value;
  not_finite_.push_back(name);
  return 0;
}

const StoredTensor* WeightTable::find_fitting(const std::string& name, const Tensor& shape) {
  const auto* const sizes = shape.shape.data();
  taken_.insert(name);
  const StoredTensor* const stored = find(name);
  if (stored == nullptr) {
    missing_.push_back(name);
  } else if (!std::equal(sizes, sizes + shape.rank, stored->shape.begin(), stored->shape.end())) {
    misshapen_.push_back(
        fmt::format("{} {} instead of {}", name,
                    describe_shape(stored->shape.data(), static_cast<int>(stored->shape.size())),
                    describe_shape(sizes, shape.rank)));
  } else if (!stored->is_floating()) {
    misshapen_.push_back(fmt::format("{} of type {}", name, stored->type));
  } else {
    return stored;
  }
  return nullptr;
}

bool WeightTable::read(const std::string& name, const StoredTensor& stored, const Tensor& to,
                       float scale) {
  std::atomic<bool> finite = true;
  parallel_for_chunks(static_cast<std::size_t>(to.size()), kChunk,
                      [&](std::size_t, std::size_t begin, std::size_t end) {
                        const auto first = static_cast<std::int64_t>(begin);
                        const auto count = static_cast<std::int64_t>(end - begin);
                        float* const chunk = to.as<float>() + first;
                        stored.to_floats(first, count, chunk);
                        if (!all_finite(chunk, count)) finite = false;
                        if (scale != 1)
                          for (std::int64_t i = 0; i < count; ++i) chunk[i] *= scale;
                      });
  if (!finite) not_finite_.push_back(name);
  return finite;
}

Linear WeightTable::take_linear(Context& context, const std::string& name, std::int64_t n_out,
                                std::int64_t n_in) {
  return take_linears(context, {&name, 1}, n_out, n_in, 1);
}

Linear WeightTable::take_linears(Context& context, std::span<const std::string> names,
                                 std::int64_t n_out, std::int64_t n_in, float first_scale) {
  std::vector<LinearPart> parts;
  for (const std::string& name : names)
    parts.push_back({name, n_out, parts.empty() ? first_scale : 1});
  return take_linear_parts(context, parts, n_in, true);
}

Linear WeightTable::take_linear_parts(Context& context, std::span<const LinearPart> parts,
                                      std::int64_t n_in, bool has_bias) {
  // Before there is room for them: a shape of config.json may be any.
  std::vector<std::pair<const StoredTensor*, const StoredTensor*>> stored;
  bool all_fit = true;
  std::int64_t n_all = 0;
  for (const LinearPart& part : parts) {
    const StoredTensor* const weight =
        find_fitting(part.name + ".weight", {nullptr, DType::f32, {part.n_out, n_in}});
    const StoredTensor* const bias =
        has_bias ? find_fitting(part.name + ".bias", {nullptr, DType::f32, {part.n_out}}) : nullptr;
    stored.emplace_back(weight, bias);
    all_fit = all_fit && weight != nullptr && (bias != nullptr || !has_bias);
    n_all += part.n_out;
  }
  if (!all_fit || maps_ == Maps::only_checked) return {};
  const auto needed = static_cast<std::size_t>(n_all * (n_in + 1));
  if (room_.size() < needed) {
    room_ = {};
    room_ = BigArray<float>(needed);
  }
  const Tensor weight(room_.data(), DType::f32, {n_all, n_in});
  const Tensor bias(room_.data() + n_all * n_in, DType::f32, {n_all});
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& [name, n_out, scale] = parts[i];
    read(name + ".weight", *stored[i].first, weight.slice(0, begin, begin + n_out), scale);
    if (has_bias)
      read(name + ".bias", *stored[i].second, bias.slice(0, begin, begin + n_out), scale);
    begin += n_out;
  }
  Linear map = context.upload_linear(weight, has_bias ? bias : Tensor());
  map.sum_in_parts = sums_in_parts_;
  return map;
}

Norm WeightTable::take_norm(Context& context, const std::string& name, std::int64_t d, float eps) {
  const HostTensor weight = take(name + ".weight", {d});
  const HostTensor bias = take(name + ".bias", {d});
  return {context.upload(weight.view, DType::f32), context.upload(bias.view, DType::f32), eps};
}

std::string WeightTable::defects(const std::vector<std::string>& unknown) const {
  return list(
      {{"tensors are missing", missing_},
       {"have another shape or type", misshapen_},
       {"hold NaN or an infinity", not_finite_},
       {"differ from the words of the embedding, to which tie_word_embeddings ties them", untied_},
       {"are there under another name, too", doubled_},
       {"differ from their copy under another name", unequal_copies_},
       {"differ from the first of their kind, which the model has once", unequal_},
       {"are unknown", unknown}});
}

void WeightTable::finish() {
  std::vector<std::string> unknown;
  if (known_.empty()) index();
  for (const auto& [name, tensor] : known_)
    if (taken_.count(name) == 0 && ignored_.count(name) == 0) unknown.push_back(name);
  const std::string text = defects(unknown);
  if (!text.empty()) throw Error(ErrorCode::bad_input, checkpoint_.files().front() + ": " + text);
}

}  // namespace biogpu::tensor
