#include "lib/models/tensornet/device_edges.hpp"

#include <algorithm>
#include <cstring>
#include <numbers>

#include "lib/ops/neighbours/neighbour_list.hpp"
#include "lib/ops/neighbours/periodic_box.hpp"

namespace biogpu::models::tensornet {
namespace {

using tensor::DType;
using tensor::Tensor;

constexpr const char* kCount = "edges.count";
constexpr const char* kStarts = "edges.starts";

// An output of integers: outputs are copied bit by bit.
Tensor integer_output(Pass& pass, const char* name, std::int64_t n) {
  return {pass.output(name, {n}).data, DType::i32, {n}};
}

std::vector<std::int32_t> integers(const Outputs& outputs, const char* name) {
  const Outputs::Array& array = outputs.at(name);
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(array.shape[0]));
  std::memcpy(numbers.data(), array.values.data(), numbers.size() * sizeof(std::int32_t));
  return numbers;
}

}  // namespace

double expected_neighbours(const AtomSystem& system, double cutoff) {
  if (!system.box.has_value()) return 0;
  double own_images = 1;  // more than the density tells where the box is narrow along one axis
  for (const double width : ops::face_distances(*system.box))
    own_images *= std::max(1.0, 2 * cutoff / width);
  const double sphere = 4 * std::numbers::pi / 3 * cutoff * cutoff * cutoff;
  return std::max(own_images,
                  static_cast<double>(system.n_atoms()) * sphere / ops::volume_of(*system.box));
}

DeviceEdges::DeviceEdges(std::span<const AtomSystem> systems, const EdgeRule& rule) : rule_(rule) {
  const bool has_box = std::any_of(systems.begin(), systems.end(),
                                   [](const AtomSystem& system) { return system.box.has_value(); });
  for (const AtomSystem& system : systems) {
    require_pairs(system.positions, system.box.has_value() ? &*system.box : nullptr, rule.upper);
    positions_.insert(positions_.end(), system.positions.begin(), system.positions.end());
    atom_starts_.push_back(static_cast<std::int32_t>(positions_.size() / 3));
    const Box box = system.box.value_or(Box{});
    if (has_box) boxes_.insert(boxes_.end(), box.begin(), box.end());
  }
}

DeviceEdges::Uploaded DeviceEdges::upload(Pass& pass, std::int64_t capacity) const {
  Uploaded to;
  to.positions = pass.upload(DType::f64, {n_atoms(), 3}, positions_.data());
  if (!boxes_.empty())
    to.boxes =
        pass.upload(DType::f64, {static_cast<std::int64_t>(boxes_.size() / 9), 9}, boxes_.data());
  pass.depends_on(boxes_.empty());
  // Without what Context::upload_ragged() plans for attention: the list reads starts alone, so that
  // a captured pass serves systems of other sizes too.
  to.segments.n_rows = n_atoms();
  to.segments.n_segments = static_cast<std::int64_t>(atom_starts_.size()) - 1;
  to.segments.starts = atom_starts_;
  to.segments.device_starts = pass.upload(atom_starts_);
  to.edges = capacity == 0 ? ops::take_edge_counts(pass.arena(), n_atoms())
                           : ops::take_edges(pass.arena(), n_atoms(), capacity, true);
  pass.depends_on(static_cast<std::uint64_t>(capacity));
  to.edges.count = integer_output(pass, kCount, 1);
  if (capacity == 0) to.edges.starts = integer_output(pass, kStarts, n_atoms() + 1);
  return to;
}

void DeviceEdges::list(Pass& pass, const Uploaded& to) const {
  ops::neighbour_list(pass.context(), {to.positions, &to.segments, to.boxes, rule_.lower,
                                       rule_.upper, rule_.self_edges, to.edges, true});
}

std::int64_t DeviceEdges::count(const Outputs& outputs) {
  return ops::checked_edge_count(integers(outputs, kCount)[0]);
}

std::vector<std::int32_t> DeviceEdges::starts(const Outputs& outputs) {
  return integers(outputs, kStarts);
}

}  // namespace biogpu::models::tensornet
