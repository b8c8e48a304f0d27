#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "lib/models/base/pass.hpp"
#include "lib/tensor/context.hpp"

namespace biogpu::models {

// A model whose weights lie in one context's memory. What is common to all: passes in memory that
// is reserved once and grows. One thread at a time.
class Model {
 public:
  virtual ~Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // Lines of a key, a tab and a value, for `biogpu infer info`.
  virtual std::string describe() const = 0;
  // What a device has spent on passes so far, and the most memory that weights and passes had
  // there; 0 on a CPU.
  double device_seconds() const { return device_seconds_; }
  std::uint64_t peak_device_bytes() const { return context_.peak_device_bytes(); }

 protected:
  explicit Model(tensor::Context& context) : context_(context) {}

  // Uploads inputs, takes outputs, and runs the operations. Called twice for a pass: first on a dry
  // run, which tells the memory that the real one needs. Of passes with equal keys only the first
  // runs its operations there.
  using Forward = std::function<void(Pass& pass)>;
  // Throws Error{device_memory} where the pass does not fit.
  Outputs run_pass(const Forward& forward);
  // Bytes of such a pass.
  std::size_t measure_pass(const Forward& forward) const;

  // What a pass of a measured size reserves.
  static std::size_t pass_bytes(std::size_t measured);
  // Bytes that a pass could reserve.
  std::uint64_t available_bytes() const { return context_.free_bytes() + bytes_; }

  tensor::Context& context_;

 private:
  void* memory_ = nullptr;  // of the context, which frees it
  std::size_t bytes_ = 0;
  double device_seconds_ = 0;
  mutable MeasuredPasses measured_;
};

}  // namespace biogpu::models
