#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "lib/nn/backend.hpp"
#include "lib/nn/float16.hpp"
#include "lib/nn/reference_ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

namespace biogpu::test {

using nn::Backend;
using nn::DType;
using nn::Precision;
using nn::Tensor;

// Numbers on the host as some precision holds them.
inline float rounded(float value, Precision precision) {
  if (precision == Precision::fp16) return nn::from_f16(nn::to_f16(value));
  if (precision == Precision::bf16) return nn::from_bf16(nn::to_bf16(value));
  return value;
}

// Relative to the tensor's root mean square.
inline double bound_of(Precision precision) {
  return precision == Precision::bf16 ? 3e-2 : precision == Precision::fp16 ? 4e-3 : 3e-5;
}

// The same numbers on the host, as the reference reads them, and in a backend's memory.
struct Pair {
  std::vector<float> values;
  Tensor host;
  Tensor device;
};

// A backend beside the reference: makes tensors for both and compares what comes out.
class Bench {
 public:
  explicit Bench(Precision precision)
      : precision_(precision),
        reference_(nn::make_reference_backend()),
        device_(nn::make_gpu_backend(0, {precision})) {}

  Backend& reference() { return *reference_; }
  Backend& device() { return *device_; }
  Precision precision() const { return precision_; }

  // Random numbers of about `size`, rounded where they are an operand.
  Pair random(std::initializer_list<std::int64_t> shape, float size, bool operand) {
    Tensor tensor(nullptr, DType::f32, shape);
    std::vector<float> values(static_cast<std::size_t>(tensor.size()));
    std::normal_distribution<float> normal(0, size);
    for (float& value : values)
      value = operand ? rounded(normal(random_), precision_) : normal(random_);
    return pair(shape, std::move(values), operand);
  }

  Pair empty(std::initializer_list<std::int64_t> shape, bool operand) {
    const Tensor tensor(nullptr, DType::f32, shape);
    return pair(shape, std::vector<float>(static_cast<std::size_t>(tensor.size()), 7.0f), operand);
  }

  // Moving a vector keeps its memory, which host tensors point to.
  Pair pair(std::initializer_list<std::int64_t> shape, std::vector<float> values, bool operand) {
    Pair made;
    made.values = std::move(values);
    made.host = Tensor(made.values.data(), DType::f32, shape);
    made.device = device_->upload(made.host, operand ? device_->operand() : DType::f32);
    return made;
  }

  // The largest difference, relative to the root mean square of the reference's numbers.
  double difference(const Pair& pair) {
    std::vector<float> got(pair.values.size());
    Tensor flat = pair.device;
    if (flat.rank == 3) {
      flat.rank = 2;
      flat.shape[1] = pair.device.shape[1] * pair.device.shape[2];
    }
    device_->copy_out(got.data(), flat);
    device_->synchronize();
    double squares = 0, worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      squares += static_cast<double>(pair.values[i]) * pair.values[i];
      const double apart = std::fabs(static_cast<double>(got[i]) - pair.values[i]);
      worst = std::isfinite(apart) ? std::max(worst, apart) : INFINITY;
    }
    return worst / std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, got.size())));
  }

 private:
  const Precision precision_;
  std::unique_ptr<Backend> reference_, device_;
  std::mt19937 random_{17};
};

// Batches of both.
struct BatchPair {
  std::vector<float> room;
  nn::Batch host, device;
};

inline BatchPair upload(Bench& bench, const std::vector<std::int32_t>& lengths,
                        std::int32_t vocabulary) {
  nn::HostBatch batch;
  batch.starts.push_back(0);
  for (const std::int32_t length : lengths) {
    for (std::int32_t t = 0; t < length; ++t) {
      batch.ids.push_back((t * 7 + length) % vocabulary);
      batch.scale.push_back(t % 5 == 0 ? 0.0f : 0.88f);
    }
    batch.starts.push_back(batch.starts.back() + length);
  }
  BatchPair made;
  const std::size_t bytes = 16 * batch.ids.size() + 8192;
  nn::Arena host_arena(bench.reference().allocate(bytes), bytes);
  nn::Arena device_arena(bench.device().allocate(bytes), bytes);
  made.host = bench.reference().upload_batch(batch, host_arena);
  made.device = bench.device().upload_batch(batch, device_arena);
  return made;
}

}  // namespace biogpu::test
