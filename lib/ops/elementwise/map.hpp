#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// What a step of Map makes of the current number x and its operands b and c, in fp32.
enum class MapCode : std::uint8_t {
  load,          // b
  keep,          // x, which is also stored in slot b (kKept or kKept + 1)
  add,           // x + b
  subtract,      // x - b
  multiply,      // x b
  divide,        // x / b
  multiply_add,  // x b + c
  minimum,       // b < x ? b : x; NaN where b or x is
  maximum,       // b > x ? b : x; NaN where b or x is
  greater,       // x > b ? 1 : 0
  select,        // x != 0 ? b : c
  power,         // x^b as exp(b log x), for x >= 0
  sigmoid,       // 1 / (1 + e^-x)
  silu,          // x / (1 + e^-x)
  gelu_erf,      // the next five as lib/ops/activation.hpp defines them
  gelu_sigmoid,
  gelu_tanh,
  relu,
  softplus,
  tanh,
  exp,
  log,
};

// A step: its operands are slots, or the step's constants where the slot is Map::kNumber.
struct MapStep {
  MapCode code = MapCode::load;
  std::uint8_t b = 0, c = 0;
  float b_number = 0, c_number = 0;
};

struct MapInput {
  Tensor x;                   // f32, f16 or bf16
  bool zeros_behind = false;  // rows may be shorter than those of out: zeros behind them
};

// An expression of up to four tensors, number by number: the current number begins as that of input
// 0, each step replaces it, and the last one's goes to `out`. Without steps: input 0 in out's type.
// Inputs are broadcast to the shape of out as in NumPy: axes are aligned at the last, and one that
// is missing or of extent 1 is repeated. Steps compute in fp32 for all types.
// make_map() and the functions behind it write the usual expressions.
struct Map {
  static constexpr int kMaxInputs = 4, kMaxSteps = 12;
  static constexpr std::uint8_t kKept = kMaxInputs;    // slots of inputs, then two of `keep`
  static constexpr std::uint8_t kNumber = kKept + 2;   // the step's own number
  static constexpr std::uint8_t kCurrent = kKept + 3;  // x itself
  std::array<MapInput, kMaxInputs> inputs{};
  std::array<MapStep, kMaxSteps> steps{};
  int n_inputs = 0, n_steps = 0;
  Tensor out;  // f32, f16 or bf16, up to 5 axes of any distance; may be the memory of an input that
               // has its type, shape and strides
};
BIOGPU_DECLARE_OP(map, Map);

// More inputs or steps than a Map holds are counted, and refused when it runs.
inline Map make_map(std::initializer_list<Tensor> inputs, std::initializer_list<MapStep> steps,
                    const Tensor& out) {
  Map map;
  for (const Tensor& x : inputs) {
    if (map.n_inputs < Map::kMaxInputs) map.inputs[static_cast<std::size_t>(map.n_inputs)].x = x;
    ++map.n_inputs;
  }
  for (const MapStep& step : steps) {
    if (map.n_steps < Map::kMaxSteps) map.steps[static_cast<std::size_t>(map.n_steps)] = step;
    ++map.n_steps;
  }
  map.out = out;
  return map;
}

// out = x, in another type or broadcast.
inline Map map_copy(const Tensor& x, const Tensor& out) { return make_map({x}, {}, out); }

// out = f(x), f a code without operands.
inline Map map_function(MapCode f, const Tensor& x, const Tensor& out) {
  return make_map({x}, {{f}}, out);
}

inline Map map_add(const Tensor& x, const Tensor& y, const Tensor& out) {
  return make_map({x, y}, {{MapCode::add, 1}}, out);
}

// out = x + y, y with fewer columns: the last ones of x stay. (AlphaGenome's residual)
inline Map map_add_fewer(const Tensor& x, const Tensor& y, const Tensor& out) {
  Map map = map_add(x, y, out);
  map.inputs[1].zeros_behind = true;
  return map;
}

inline Map map_multiply(const Tensor& x, const Tensor& y, const Tensor& out) {
  return make_map({x, y}, {{MapCode::multiply, 1}}, out);
}

// out = x scale + shift: of rows [R, 1], of columns [d] (batch norm at inference), or of channels.
inline Map map_scale_shift(const Tensor& x, const Tensor& scale, const Tensor& shift,
                           const Tensor& out) {
  return make_map({x, scale, shift}, {{MapCode::multiply_add, 1, 2}}, out);
}
inline Map map_scale_shift(const Tensor& x, float scale, float shift, const Tensor& out) {
  return make_map({x}, {{MapCode::multiply_add, Map::kNumber, Map::kNumber, scale, shift}}, out);
}

// out = sigmoid(gate) x
inline Map map_gate(const Tensor& gate, const Tensor& x, const Tensor& out) {
  return make_map({gate, x}, {{MapCode::sigmoid}, {MapCode::multiply, 1}}, out);
}

// out = sigmoid(gate) x + shift: adaptive layer norm.
inline Map map_gate_shift(const Tensor& gate, const Tensor& x, const Tensor& shift,
                          const Tensor& out) {
  return make_map({gate, x, shift}, {{MapCode::sigmoid}, {MapCode::multiply_add, 1, 2}}, out);
}

// out = f(x) y: silu gives SwiGLU, gelu_erf or gelu_tanh GEGLU. (Shazeer 2020, arXiv 2002.05202)
inline Map map_glu(MapCode f, const Tensor& x, const Tensor& y, const Tensor& out) {
  return make_map({x, y}, {{f}, {MapCode::multiply, 1}}, out);
}
// The same of the halves of rows: out = f(first half) second half. Rows of an odd width are refused
// when it runs.
inline Map map_glu_halves(MapCode f, const Tensor& x, const Tensor& out) {
  const int last = x.rank - 1;
  const std::int64_t d = x.shape[static_cast<std::size_t>(last)];
  Map map = map_glu(f, x.slice(last, 0, d / 2), x.slice(last, d / 2, d), out);
  if (d % 2 != 0) map.n_inputs = Map::kMaxInputs + 1;
  return map;
}

}  // namespace biogpu::ops
