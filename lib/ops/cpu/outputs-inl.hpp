// Activations, and results as they are and as the next layer reads them; for re-inclusion once per
// target.
#include "lib/core/simd_targets.hpp"
#if defined(BIOGPU_OPS_OUTPUTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_OPS_OUTPUTS_INL_HPP
#undef BIOGPU_OPS_OUTPUTS_INL_HPP
#else
#define BIOGPU_OPS_OUTPUTS_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "lib/ops/activation.hpp"
#include "lib/ops/cpu/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

template <Activation kActivation>
HWY_INLINE Vec activate(Vec x) {
  const F32 f32;
  if constexpr (kActivation == Activation::gelu_erf) return gelu_erf(x);
  if constexpr (kActivation == Activation::gelu_sigmoid)
    return hn::Mul(x, sigmoid(hn::Mul(x, hn::Set(f32, 1.702f))));
  if constexpr (kActivation == Activation::gelu_tanh) return gelu_tanh(x);
  if constexpr (kActivation == Activation::relu)
    return hn::IfThenElse(hn::Lt(x, hn::Zero(f32)), hn::Zero(f32), x);
  if constexpr (kActivation == Activation::softplus) return softplus(x);
  return x;
}

HWY_INLINE Vec activate(Activation activation, Vec x) {
  switch (activation) {
    case Activation::none:
      break;
    case Activation::gelu_erf:
      return activate<Activation::gelu_erf>(x);
    case Activation::gelu_sigmoid:
      return activate<Activation::gelu_sigmoid>(x);
    case Activation::gelu_tanh:
      return activate<Activation::gelu_tanh>(x);
    case Activation::relu:
      return activate<Activation::relu>(x);
    case Activation::softplus:
      return activate<Activation::softplus>(x);
  }
  return x;
}

// Stores one vector of columns, n of them from `column` on, of row after row.
class ColumnOutputs {
 public:
  HWY_INLINE ColumnOutputs(const tensor::Tensor& out, const Activated& activated,
                           std::int64_t column, std::size_t n)
      : out_(out), activated_(activated), column_(column), n_(n) {
    const F32 f32;
    scale_ = activated.scale.empty() ? hn::Set(f32, 1.0f)
                                     : load_first(activated.scale.as<float>() + column, n);
    shift_ = activated.shift.empty() ? hn::Zero(f32)
                                     : load_first(activated.shift.as<float>() + column, n);
  }

  HWY_INLINE void store(std::int64_t row, Vec y) const {
    if (!out_.empty()) store_first(y, n_, out_.row<float>(row) + column_);
    if (activated_.out.empty()) return;
    store_first(activate(activated_.activation, hn::MulAdd(y, scale_, shift_)), n_,
                activated_.out.row<float>(row) + column_);
  }

 private:
  const tensor::Tensor& out_;
  const Activated& activated_;
  const std::int64_t column_;
  const std::size_t n_;
  Vec scale_, shift_;
};

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#endif
