#pragma once

// What tests of operations share: one context under test and the reference, with tensors for both.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "lib/core/simd_targets.hpp"
// Highway after its settings.
#include <hwy/targets.h>

#include "lib/core/device.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/reference_context.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/float16.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/worse_of.hpp"

namespace biogpu::test {

using tensor::Context;
using tensor::DType;
using tensor::Linear;
using tensor::Precision;
using tensor::Tensor;

// A context to be tested: the CPU's with one instruction set, or the GPU's with one precision.
struct Subject {
  std::string name;
  std::int64_t instruction_set = 0;  // 0: a GPU
  Precision precision = Precision::fp32;
};

// All of this build and machine; BIOGPU_TEST_CONTEXTS, cpu or gpu, leaves some out.
inline std::vector<Subject> subjects() {
  const char* const only = std::getenv("BIOGPU_TEST_CONTEXTS");
  const std::string wanted = only == nullptr ? "" : only;
  std::vector<Subject> all;
  if (wanted != "gpu")
    for (std::int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1)
      all.push_back({hwy::TargetName(left & -left), left & -left, Precision::fp32});
  if (wanted == "cpu") return all;
  std::string why;
  const std::vector<DeviceInfo> devices = list_devices(&why);
  if (!devices.empty() && devices.front().usable) {
    all.push_back({"gpu fp32", 0, Precision::fp32});
    all.push_back({"gpu fp16", 0, Precision::fp16});
    all.push_back({"gpu bf16", 0, Precision::bf16});
  } else if (std::getenv("BIOGPU_REQUIRE_GPU") != nullptr) {
    FAIL("no GPU: " << why);
  }
  if (all.empty()) {
    std::printf("skipped: no GPU\n");
    std::exit(77);
  }
  return all;
}

// The same numbers on the host, as the reference reads them, and in a context's memory.
struct Pair {
  std::vector<float> values;
  Tensor host;
  Tensor device;
};

// Row numbers of both.
struct Indices {
  std::vector<std::int32_t> values;
  Tensor host, device;
};

// Weights of both.
struct LinearPair {
  Pair weight, bias;
  Linear host, device;
};

// Segments of both.
struct RaggedPair {
  tensor::Ragged host, device;
};

// The context under test and the reference: makes tensors for both and compares what comes out.
class Bed {
 public:
  explicit Bed(const Subject& subject)
      : message_(Catch::MessageBuilder("INFO", CATCH_INTERNAL_LINEINFO, Catch::ResultWas::Info)
                 << subject.name),
        is_cpu_(subject.instruction_set != 0),
        precision_(subject.precision),
        reference_(ops::make_reference_context()) {
    if (is_cpu_) {
      hwy::SetSupportedTargetsForTest(subject.instruction_set);
      device_ = ops::make_cpu_context(2);
    } else {
      device_ = tensor::make_gpu_context(0, {precision_});
    }
  }
  ~Bed() { hwy::SetSupportedTargetsForTest(0); }
  Bed(const Bed&) = delete;
  Bed& operator=(const Bed&) = delete;

  Context& reference() { return *reference_; }
  Context& device() { return *device_; }
  bool is_cpu() const { return is_cpu_; }
  Precision precision() const { return precision_; }
  // Of results that are operands, relative to their root mean square: a few roundings.
  double operand_bound() const {
    return precision_ == Precision::bf16 ? 3e-2 : precision_ == Precision::fp16 ? 4e-3 : 3e-5;
  }

  // Random numbers of about `size`, rounded where they are an operand.
  Pair random(std::initializer_list<std::int64_t> shape, float size, bool operand) {
    const Tensor tensor(nullptr, DType::f32, shape);
    std::vector<float> values(static_cast<std::size_t>(tensor.size()));
    std::normal_distribution<float> normal(0, size);
    for (float& value : values) value = operand ? rounded(normal(random_)) : normal(random_);
    return pair(shape, std::move(values), operand);
  }
  // What is to be written: no number that an operation gives.
  Pair unset(std::initializer_list<std::int64_t> shape, bool operand) {
    const Tensor tensor(nullptr, DType::f32, shape);
    return pair(shape, std::vector<float>(static_cast<std::size_t>(tensor.size()), 7.0f), operand);
  }
  // Moving a vector keeps its memory, which host tensors point to.
  Pair pair(std::initializer_list<std::int64_t> shape, std::vector<float> values, bool operand) {
    Pair made;
    made.values = std::move(values);
    made.host = Tensor(made.values.data(), DType::f32, shape);
    made.device = device_->upload(made.host, operand ? device_->compute_dtype() : DType::f32);
    return made;
  }
  Indices indices(std::vector<std::int32_t> values) {
    Indices made;
    made.values = std::move(values);
    const auto n = static_cast<std::int64_t>(made.values.size());
    made.host = Tensor(made.values.data(), DType::i32, {n});
    made.device = Tensor(device_->allocate(made.host.bytes()), DType::i32, {n});
    device_->copy_in(made.device, made.values.data());
    return made;
  }
  LinearPair linear(std::int64_t n_out, std::int64_t n_in) {
    LinearPair made;
    made.weight = random({n_out, n_in}, 0.2f, true);
    made.bias = random({n_out}, 0.5f, false);
    made.host = reference_->upload_linear(made.weight.host, made.bias.host);
    made.device = device_->upload_linear(made.weight.host, made.bias.host);
    return made;
  }
  RaggedPair segments(const std::vector<std::int32_t>& lengths) {
    std::vector<std::int32_t> starts{0};
    for (const std::int32_t length : lengths) starts.push_back(starts.back() + length);
    const std::size_t bytes = 8 * static_cast<std::size_t>(starts.back()) + 8192;
    tensor::Arena host_arena(reference_->allocate(bytes), bytes);
    tensor::Arena device_arena(device_->allocate(bytes), bytes);
    return {reference_->upload_ragged(starts, host_arena),
            device_->upload_ragged(starts, device_arena)};
  }

  std::vector<float> fetch(const Tensor& tensor) {
    std::vector<float> got(static_cast<std::size_t>(tensor.size()));
    Tensor flat = tensor;
    flat.rank = 2;
    flat.shape = {tensor.rank == 1 ? 1 : tensor.shape[0], 0};
    flat.shape[1] = flat.shape[0] == 0 ? 0 : tensor.size() / flat.shape[0];
    flat.stride = {tensor.rank == 1 ? tensor.size() : tensor.stride[0], 1};
    device_->copy_out(got.data(), flat);
    device_->synchronize();
    return got;
  }
  // The largest difference, relative to the root mean square of the reference's numbers.
  double difference(const Pair& pair) {
    double squares = 0;
    for (const float value : pair.values) squares += static_cast<double>(value) * value;
    const auto n = static_cast<double>(std::max<std::size_t>(1, pair.values.size()));
    return largest_difference(pair) / std::sqrt(squares / n);
  }
  // The same, counted in roundings to fp32 of the largest number that is right.
  double roundings(const Pair& pair) {
    double largest = 0;
    for (const float value : pair.values)
      largest = std::max(largest, std::fabs(static_cast<double>(value)));
    return largest_difference(pair) / (largest * 0x1p-24);
  }

  // The mean of what numbers are too large by, away from zero, relative to the same.
  double bias(const Pair& pair) {
    const std::vector<float> got = fetch(pair.device);
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double right = pair.values[i], apart = static_cast<double>(got[i]) - right;
      sum += right < 0 ? -apart : apart;
      squares += right * right;
    }
    const auto n = static_cast<double>(std::max<std::size_t>(1, got.size()));
    return sum / n / std::sqrt(squares / n);
  }

 private:
  float rounded(float value) const {
    if (precision_ == Precision::fp16) return tensor::from_f16(tensor::to_f16(value));
    if (precision_ == Precision::bf16) return tensor::from_bf16(tensor::to_bf16(value));
    return value;
  }
  double largest_difference(const Pair& pair) {
    const std::vector<float> got = fetch(pair.device);
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double apart = std::fabs(static_cast<double>(got[i]) - pair.values[i]);
      worst = worse_of(worst, apart);
    }
    return worst;
  }

  Catch::ScopedMessage message_;  // names the context with every failure
  const bool is_cpu_;
  const Precision precision_;
  std::unique_ptr<Context> reference_, device_;
  std::mt19937 random_{17};
};

// Columns [i * d, (i + 1) * d) of rows [T, 3 d] as heads.
inline Tensor heads_of(const Tensor& qkv, std::int64_t i, std::int64_t n_heads) {
  const std::int64_t d = qkv.shape[1] / 3;
  return tensor::split_heads(qkv.slice(1, i * d, (i + 1) * d), n_heads);
}

}  // namespace biogpu::test
