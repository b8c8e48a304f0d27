#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace biogpu::tensor {

// Products that have a kernel for each of two widths of tile, in columns. Either gives the same
// bytes; which is faster depends on the shape and the device.
struct TiledOperation {
  const char* name;
  int columns[2];
};
inline constexpr TiledOperation kTiledOperations[] = {
    {"gemm", {64, 128}},             // a linear map by mma.sync or v_mfma
    {"gemm warpgroup", {160, 192}},  // one by Hopper's warpgroup products, to 16 bits
    {"matmul kk", {64, 128}},  // two activations, by the contiguous axis of each: the summed one
    {"matmul kr", {64, 128}},  // or that of its rows
    {"matmul rk", {64, 128}},
    {"matmul rr", {64, 128}},
};

// Null for a name that no operation has.
inline const TiledOperation* find_tiled_operation(std::string_view name) {
  for (const TiledOperation& operation : kTiledOperations)
    if (name == operation.name) return &operation;
  return nullptr;
}

// [m, k] times [k, n], n_products of them; type: of the operands, as --precision names it.
struct TiledProduct {
  std::string operation;  // of kTiledOperations
  std::string type;
  std::array<std::int64_t, 4> shape{};  // m, n, k, n_products

  auto operator<=>(const TiledProduct&) const = default;
};

// The tiles of products: those that tuning data name for a shape, else those of the kernels' rules.
class TileTable {
 public:
  int columns(const char* operation, const char* type, const std::array<std::int64_t, 4>& shape,
              int by_rule) {
    if (chosen_.empty() && seen_ == nullptr) return by_rule;
    const TiledProduct product{operation, type, shape};
    if (seen_ != nullptr) seen_->insert_or_assign(product, by_rule);
    const auto found = chosen_.find(product);
    return found == chosen_.end() ? by_rule : found->second;
  }

  void choose(const TiledProduct& product, int columns) { chosen_[product] = columns; }
  void clear() { chosen_.clear(); }
  std::size_t size() const { return chosen_.size(); }
  // Notes the products that are asked for, and their tiles by rule; null: no longer.
  void note(std::map<TiledProduct, int>* seen) { seen_ = seen; }

 private:
  std::map<TiledProduct, int> chosen_;
  std::map<TiledProduct, int>* seen_ = nullptr;
};

}  // namespace biogpu::tensor
