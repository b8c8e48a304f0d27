#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "lib/c_api/calls.hpp"
#include "lib/core/error.hpp"
#include "lib/core/gpu_backend.hpp"
#include "lib/models/structure/block_parts.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/gpu_context_gpu.hpp"

namespace biogpu::c_api {

// A device, and the workspace of calls that bring none.
class BlockDevice {
 public:
  explicit BlockDevice(std::unique_ptr<tensor::Context> context)
      : context_(std::move(context)),
        dry_run_(make_dry_run_context(context_->precision())),
        name_(on_gpu() ? context_->name().substr(std::string_view("gpu:").size()) : "cpu") {}

  tensor::Context& context() { return *context_; }
  tensor::DType operand() const { return context_->compute_dtype(); }
  // "cpu" or a GPU's number.
  const std::string& name() const { return name_; }
  bool on_gpu() const { return context_->kind() == tensor::Context::Kind::gpu; }

  using Body = std::function<void(const models::BlockContext& run)>;
  std::size_t measure(const Body& body) {
    tensor::Arena arena = tensor::Arena::measuring();
    body({*dry_run_, arena});
    return std::max<std::size_t>(arena.peak_bytes(), tensor::Arena::kAlignment);
  }

  template <class Call>
  void run(const Call& call, const Body& body) {
    require(on_gpu() || call.stream == nullptr, "a stream, which belongs to a GPU, on the CPU");
    const std::size_t needed = measure(body);
    void* memory = call.workspace;
    if (memory == nullptr) {
      memory = own_workspace(needed);
    } else {
      require(reinterpret_cast<std::uintptr_t>(memory) % tensor::Arena::kAlignment == 0,
              "a workspace that is not at a multiple of 256 bytes");
      if (call.workspace_bytes < needed)
        throw Error(ErrorCode::usage, fmt::format("a workspace of {} bytes; expected {}",
                                                  call.workspace_bytes, needed));
    }
    tensor::Arena arena(memory, needed);
    if (on_gpu()) gpu_feature<tensor::GpuTable>().wait_for_stream(*context_, call.stream);
    body({*context_, arena});
    if (on_gpu()) gpu_feature<tensor::GpuTable>().let_stream_wait(call.stream, *context_);
  }

 private:
  void* own_workspace(std::size_t bytes) {
    if (bytes > n_bytes_) {
      if (workspace_ != nullptr) context_->release(workspace_);
      workspace_ = nullptr;
      n_bytes_ = 0;
      workspace_ = context_->allocate(bytes);
      n_bytes_ = bytes;
    }
    return workspace_;
  }

  std::unique_ptr<tensor::Context> context_, dry_run_;
  const std::string name_;
  void* workspace_ = nullptr;  // goes with the context
  std::size_t n_bytes_ = 0;
};

}  // namespace biogpu::c_api
