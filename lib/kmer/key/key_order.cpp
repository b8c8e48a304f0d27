#include "lib/kmer/key/key_order.hpp"

#include <cstddef>

namespace biogpu::kmer {
namespace {

BitMatrix identity_matrix(int n_rows, int n_columns) {
  BitMatrix matrix{n_rows, std::vector<std::uint64_t>(static_cast<std::size_t>(n_columns), 0)};
  for (int row = 0; row < n_rows; ++row)
    matrix.columns[static_cast<std::size_t>(n_columns - 1 - row)] = std::uint64_t{1} << row;
  return matrix;
}

}  // namespace

KeyOrder KeyOrder::lexicographic(int k) {
  KeyOrder order;
  order.k_ = k;
  order.identity_ = true;
  return order;
}

KeyOrder KeyOrder::jellyfish(int k, int size_bits, bool identity) {
  if (identity && size_bits == 2 * k) {
    KeyOrder order = lexicographic(k);
    if (size_bits < 64) {
      order.matrix_ = identity_matrix(size_bits, 2 * k);
      order.forward_ = BitProduct(order.matrix_.columns);
    }
    return order;
  }
  return of_matrix(
      k, identity ? identity_matrix(size_bits, 2 * k) : jellyfish_matrix(size_bits, 2 * k));
}

KeyOrder KeyOrder::of_matrix(int k, const BitMatrix& matrix) {
  KeyOrder order;
  order.k_ = k;
  order.matrix_ = matrix;
  order.identity_ = matrix == identity_matrix(matrix.n_rows, 2 * k);
  order.inverse_ = invert(matrix);
  order.forward_ = BitProduct(matrix.columns);
  if (!order.is_bijective()) return order;
  // A sort key has pos above the high bits of the key; the inverse wants the key's high bits above
  // pos. Bit b of a sort key is bit b + r of the key below 2k - r, bit b - (2k - r) of pos from
  // there.
  const std::size_t n = matrix.columns.size();
  const auto r = static_cast<std::size_t>(matrix.n_rows);
  std::vector<std::uint64_t> columns(n);
  for (std::size_t bit = 0; bit < n; ++bit)
    columns[n - 1 - bit] = order.inverse_.columns[n - 1 - (bit + r) % n];
  order.backward_ = BitProduct(columns);
  return order;
}

}  // namespace biogpu::kmer
