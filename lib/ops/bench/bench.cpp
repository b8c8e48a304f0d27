#include "lib/ops/bench/bench.hpp"

#include <algorithm>

#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {

Roofline roofline_of(const std::string& device_name, tensor::Precision precision) {
  Roofline roofline;
  if (device_name.find("H200") != std::string::npos) {
    roofline = {790e12, 4.3e12};
  } else if (device_name.find("H100") != std::string::npos) {
    roofline = {790e12, 3.0e12};
  } else if (device_name.find("A100") != std::string::npos) {
    roofline = {280e12, 1.7e12};
  }
  // fp32 operands are multiplied as three products of 16-bit numbers.
  if (tensor::operand_type(precision) == tensor::DType::f32) roofline.operations_per_s /= 3;
  return roofline;
}

double OpTiming::share(const Roofline& roofline) const {
  if (roofline.operations_per_s == 0 || roofline.bytes_per_s == 0 || seconds == 0) return 0;
  return std::max(operations / roofline.operations_per_s, bytes / roofline.bytes_per_s) / seconds;
}

std::vector<OpTiming> run_op_bench(tensor::Context& context, const OpBenchSettings& settings,
                                   const ModelBenches& of_models) {
  return OpBench(context, settings, of_models).all();
}

}  // namespace biogpu::ops
