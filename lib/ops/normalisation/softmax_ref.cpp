#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "lib/ops/normalisation/softmax.hpp"

namespace biogpu::ops {
namespace {

using SoftmaxIndex = std::array<std::int64_t, tensor::kMaxRank>;

// The element of a tensor that belongs to an index of x.
std::int64_t element_at(const Tensor& tensor, const Tensor& x, const SoftmaxIndex& index) {
  std::int64_t at = 0;
  for (int i = 0; i < tensor.rank; ++i) {
    const auto own = static_cast<std::size_t>(i);
    if (tensor.shape[own] != 1)
      at += index[static_cast<std::size_t>(x.rank - tensor.rank + i)] * tensor.stride[own];
  }
  return at;
}

double logit_at(const Softmax& op, const SoftmaxIndex& index) {
  const double x = op.x.as<float>()[element_at(op.x, op.x, index)], scale = op.scale;
  if (op.mask.empty()) return scale * x;
  const std::int64_t at = element_at(op.mask, op.x, index);
  if (op.mask.dtype != DType::u8) return scale * x + static_cast<double>(op.mask.as<float>()[at]);
  return op.mask.as<std::uint8_t>()[at] != 0 ? scale * x : static_cast<double>(op.masked);
}

double sum_of_powers(const std::vector<double>& logits, double top) {
  double sum = 0;
  for (const double z : logits) sum += std::exp(z - top);
  return sum;
}

}  // namespace

void softmax_ref(const Softmax& op) {
  const auto along = static_cast<std::size_t>(op.axis);
  SoftmaxIndex index{};
  for (std::int64_t n = op.x.size(); n > 0; --n) {
    if (index[along] == 0) {
      std::vector<double> logits;
      double top = -std::numeric_limits<double>::infinity();
      for (SoftmaxIndex at = index; at[along] < op.x.shape[along]; ++at[along]) {
        logits.push_back(logit_at(op, at));
        top = logits.back() > top ? logits.back() : top;
      }
      const bool none = std::isinf(top) && top < 0;
      const double sum = none ? 0 : sum_of_powers(logits, top);
      SoftmaxIndex at = index;
      for (const double z : logits) {
        const double weight = none ? 0 : std::exp(z - top) / sum;
        const double logarithm = none ? top : z - top - std::log(sum);
        op.out.as<float>()[element_at(op.out, op.x, at)] =
            static_cast<float>(op.log ? logarithm : weight);
        ++at[along];
      }
    }
    for (int i = op.x.rank; i-- > 0;) {  // the next index, the last axis fastest
      const auto a = static_cast<std::size_t>(i);
      if (++index[a] < op.x.shape[a]) break;
      index[a] = 0;
    }
  }
}

}  // namespace biogpu::ops
