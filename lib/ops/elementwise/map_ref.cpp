#include <algorithm>
#include <cmath>

#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/reference/outputs.hpp"

namespace biogpu::ops {
namespace {

using Index = std::array<std::int64_t, tensor::kMaxRank>;

double input_number(const MapInput& input, const Tensor& out, const Index& index) {
  std::int64_t at = 0;
  for (int i = 0; i < input.x.rank; ++i) {
    const auto own = static_cast<std::size_t>(i);
    const std::int64_t place = index[static_cast<std::size_t>(out.rank - input.x.rank + i)];
    const std::int64_t extent = input.x.shape[own];
    if (input.zeros_behind && i == input.x.rank - 1) {
      if (place >= extent) return 0;
    } else if (extent == 1) {
      continue;
    }
    at += place * input.x.stride[own];
  }
  return static_cast<double>(input.x.as<float>()[at]);
}

double function_of(MapCode code, double x) {
  using reference::activate;
  switch (code) {
    case MapCode::sigmoid:
      return 1 / (1 + std::exp(-x));
    case MapCode::silu:
      return x / (1 + std::exp(-x));
    case MapCode::gelu_erf:
      return activate(Activation::gelu_erf, x);
    case MapCode::gelu_sigmoid:
      return activate(Activation::gelu_sigmoid, x);
    case MapCode::gelu_tanh:
      return activate(Activation::gelu_tanh, x);
    case MapCode::relu:
      return activate(Activation::relu, x);
    case MapCode::softplus:
      return activate(Activation::softplus, x);
    case MapCode::tanh:
      return std::tanh(x);
    case MapCode::exp:
      return std::exp(x);
    default:
      return std::log(x);
  }
}

double step_of(MapCode code, double x, double b, double c) {
  switch (code) {
    case MapCode::load:
      return b;
    case MapCode::keep:
      return x;
    case MapCode::add:
      return x + b;
    case MapCode::subtract:
      return x - b;
    case MapCode::multiply:
      return x * b;
    case MapCode::divide:
      return x / b;
    case MapCode::multiply_add:
      return x * b + c;
    case MapCode::minimum:
      return b < x || std::isnan(b) ? b : x;
    case MapCode::maximum:
      return b > x || std::isnan(b) ? b : x;
    case MapCode::greater:
      return x > b ? 1 : 0;
    case MapCode::select:
      return x != 0 ? b : c;
    case MapCode::power:
      return std::pow(x, b);
    default:
      return function_of(code, x);
  }
}

double evaluate(const Map& op, const Index& index) {
  std::array<double, Map::kNumber> slots{};
  for (std::size_t k = 0; k < static_cast<std::size_t>(op.n_inputs); ++k)
    slots[k] = input_number(op.inputs[k], op.out, index);
  double x = slots[0];
  for (std::size_t s = 0; s < static_cast<std::size_t>(op.n_steps); ++s) {
    const MapStep& step = op.steps[s];
    const auto operand = [&](std::uint8_t slot, float number) {
      if (slot == Map::kNumber) return static_cast<double>(number);
      return slot == Map::kCurrent ? x : slots[slot];
    };
    if (step.code == MapCode::keep) {
      slots[step.b] = x;
    } else {
      x = step_of(step.code, x, operand(step.b, step.b_number), operand(step.c, step.c_number));
    }
  }
  return x;
}

}  // namespace

void map_ref(const Map& op) {
  Index index{};
  for (std::int64_t n = op.out.size(); n > 0; --n) {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(op.out.rank); ++i)
      at += index[i] * op.out.stride[i];
    op.out.as<float>()[at] = static_cast<float>(evaluate(op, index));
    for (int i = op.out.rank; i-- > 0;) {  // the next index, the last axis fastest
      const auto a = static_cast<std::size_t>(i);
      if (++index[a] < op.out.shape[a]) break;
      index[a] = 0;
    }
  }
}

}  // namespace biogpu::ops
