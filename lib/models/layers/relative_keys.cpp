#include "lib/models/layers/relative_keys.hpp"

#include <tbb/parallel_for.h>

#include <cstddef>

namespace biogpu::models {

std::vector<float> relative_keys(const std::vector<double>& features, std::int64_t n_heads,
                                 const tensor::Tensor& weight) {
  const std::int64_t n_out = weight.shape[0], n_features = weight.shape[1];
  const std::int64_t d_key = n_out / n_heads;
  const auto n_rows = static_cast<std::int64_t>(features.size()) / n_features;
  // Transposed, so that the loop over outputs takes several at a time.
  std::vector<double> columns(static_cast<std::size_t>(n_features * n_out));
  for (std::int64_t o = 0; o < n_out; ++o)
    for (std::int64_t k = 0; k < n_features; ++k)
      columns[static_cast<std::size_t>(k * n_out + o)] =
          static_cast<double>(weight.row<float>(o)[k]);
  std::vector<float> keys(static_cast<std::size_t>(n_rows * n_out));
  tbb::parallel_for(std::int64_t{0}, n_rows, [&](std::int64_t i) {
    std::vector<double> sums(static_cast<std::size_t>(n_out));
    double* const sum = sums.data();
    for (std::int64_t k = 0; k < n_features; ++k) {
      const double feature = features[static_cast<std::size_t>(i * n_features + k)];
      const double* const column = columns.data() + k * n_out;
      for (std::int64_t o = 0; o < n_out; ++o) sum[o] += feature * column[o];
    }
    for (std::int64_t o = 0; o < n_out; ++o)
      keys[static_cast<std::size_t>((o / d_key * n_rows + i) * d_key + o % d_key)] =
          static_cast<float>(sum[o]);
  });
  return keys;
}

}  // namespace biogpu::models
