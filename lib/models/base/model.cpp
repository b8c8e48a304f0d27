#include "lib/models/base/model.hpp"

#include <utility>

namespace biogpu::models {

std::size_t Model::measure_pass(const Forward& forward) const {
  const auto dry_run = tensor::make_dry_run_context(context_.precision());
  tensor::Arena arena = tensor::Arena::measuring();
  Pass pass(*dry_run, arena, measured_);
  forward(pass);
  return pass.bytes();
}

// A context may round a batch up to a bucket.
std::size_t Model::pass_bytes(std::size_t measured) { return measured + measured / 8 + (1u << 20); }

Outputs Model::run_pass(const Forward& forward) {
  const std::size_t needed = pass_bytes(measure_pass(forward));
  if (needed > bytes_) {
    if (memory_ != nullptr) context_.release(std::exchange(memory_, nullptr));
    bytes_ = 0;
    memory_ = context_.allocate(needed);
    bytes_ = needed;
  }
  tensor::Arena arena(memory_, bytes_);
  Outputs outputs;
  Pass pass(context_, arena, outputs);
  forward(pass);
  device_seconds_ += context_.captured_seconds();
  return outputs;
}

}  // namespace biogpu::models
