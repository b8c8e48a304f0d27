#include "lib/lab/block_case.hpp"

#include <utility>

namespace biogpu::lab {

using tensor::DType;
using tensor::Tensor;

CaseTensor& BlockCase::add_values(std::initializer_list<std::int64_t> shape,
                                  std::vector<float> values) {
  CaseTensor& input = *inputs_.emplace_back(std::make_unique<CaseTensor>());
  input.values = std::move(values);
  input.host = Tensor(input.values.data(), DType::f32, shape);
  return input;
}

CaseTensor& BlockCase::add_indices(std::vector<std::int32_t> indices) {
  CaseTensor& input = *inputs_.emplace_back(std::make_unique<CaseTensor>());
  input.indices = std::move(indices);
  input.host =
      Tensor(input.indices.data(), DType::i32, {static_cast<std::int64_t>(input.indices.size())});
  return input;
}

CaseTensor& BlockCase::add_input(std::initializer_list<std::int64_t> shape, float deviation) {
  const std::int64_t n = Tensor(nullptr, DType::f32, shape).size();
  return add_values(shape, random_.numbers(n, deviation));
}

CaseTensor& BlockCase::add_operand(std::initializer_list<std::int64_t> shape) {
  CaseTensor& input = add_input(shape);
  input.is_operand = true;
  for (float& value : input.values) value = rounded(value, operand_);
  return input;
}

CaseTensor& BlockCase::add_mask(std::initializer_list<std::int64_t> shape, int one_in) {
  std::vector<float> values(static_cast<std::size_t>(Tensor(nullptr, DType::f32, shape).size()),
                            1.0f);
  if (one_in > 0)
    for (float& value : values)
      value = random_.next(1) < 2.0f / static_cast<float>(one_in) - 1 ? 0.0f : 1.0f;
  return add_values(shape, std::move(values));
}

void BlockCase::release(tensor::Context& context) {
  context.synchronize();
  for (const auto& input : inputs_) context.release(std::exchange(input->device.data, nullptr));
}

void BlockCase::upload(tensor::Context& context) {
  const tensor::Checkpoint checkpoint = weights_.checkpoint();
  tensor::WeightTable table(checkpoint);
  read(context, table);
  table.finish();
  upload_inputs(context);
}

void BlockCase::reload(tensor::Context& context) {
  release(context);
  upload_inputs(context);
}

void BlockCase::upload_inputs(tensor::Context& context) {
  for (const auto& input : inputs_) {
    if (input->host.dtype == DType::i32) {
      input->device = input->host;
      input->device.data = context.allocate(input->host.bytes());
      context.copy_in(input->device, input->indices.data());
    } else {
      input->device = context.upload(input->host, input->is_operand ? operand_ : DType::f32);
    }
  }
}

}  // namespace biogpu::lab
