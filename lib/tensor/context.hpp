#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/tensor/arena.hpp"
#include "lib/tensor/linear.hpp"
#include "lib/tensor/precision.hpp"
#include "lib/tensor/ragged.hpp"
#include "lib/tensor/tensor.hpp"

namespace biogpu::tensor {

// Words used in lib/tensor and lib/ops: T rows of all segments of a batch, one after the other
// without padding; d width of the model; H heads of h numbers each; V size of the vocabulary.
// "operand" is operand_type(precision()). Shapes are row-major with the last axis contiguous; rows
// may be further apart than their length where it is said so.

class Context;
// An operation as a GPU context offers it; args: the operation's argument struct.
using GpuOp = void (*)(Context& context, const void* args);

// A device for models to run on: its memory, its queue, the precision of its products. Operations
// (lib/ops) are free functions of a context and their arguments. One object a device; not
// thread-safe. Operations are queued: they are done after synchronize(). Every operation with a
// floating-point sum adds in an order that depends on the row's own segment alone, so that a
// sequence gets the same bytes with any other sequences in the batch, unless the page of the
// context says else.
//
// Errors: Error{device}, Error{device_memory}, Error{failed}.
class Context {
 public:
  // Which implementation of operations runs on a context. dry_run computes nothing: a forward pass
  // over it measures the memory of a real one.
  enum class Kind { dry_run, reference, cpu, gpu };

  Context() = default;
  virtual ~Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  virtual Kind kind() const = 0;
  virtual std::string name() const = 0;  // "cpu", "gpu:0"
  virtual Precision precision() const = 0;
  DType compute_dtype() const { return operand_type(precision()); }

  // Uninitialised memory, aligned to Arena::kAlignment, until release() or the context's end.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) = 0;
  // Bytes that allocate() could still give: bounds the tokens of a batch.
  virtual std::uint64_t free_bytes() = 0;

  // Weights. Host memory may go when the call returns; the context owns what it makes.
  // host: contiguous f32. as: f32, or operand for a 16-bit copy.
  virtual Tensor upload(const Tensor& host, DType as) = 0;
  // weight f32 [n_out, n_in] or [n_out, taps, n_in / taps]; bias f32 [n_out] or empty.
  virtual Linear upload_linear(const Tensor& weight, const Tensor& bias) = 0;

  // Segments as offsets, in memory of the arena; positions are made here. starts: Ragged::starts.
  virtual Ragged upload_ragged(const std::vector<std::int32_t>& starts, Arena& arena) = 0;
  // Copies the tensor's bytes to the context: host memory may go when the call returns.
  virtual void copy_in(const Tensor& to, const void* host) = 0;
  // Copies rows to the host, f32 [R, d] contiguous there; from: f32 or operand, rows of any
  // distance. There after synchronize().
  virtual void copy_out(float* host, const Tensor& from) = 0;
  // The same for a contiguous tensor of i32.
  virtual void copy_out(std::int32_t* host, const Tensor& from) = 0;
  virtual void synchronize() = 0;
  // Memory of the host for n numbers, at least one, that copy_out() fills fastest. Any thread may
  // drop it, also after the context's end.
  virtual std::shared_ptr<float> host_memory(std::size_t n);

  // Runs the body, which does nothing but call operations on memory of one arena. A context with
  // graphs captures it on the second run of a key and replays it later. Equal keys must mean equal
  // calls up to the contents of the memory: same n_rows, same outputs.
  virtual void capture(std::uint64_t key, const std::function<void()>& body) {
    (void)key;
    body();
  }
  // Seconds that the device spent on the last capture(); waits for it. 0: not known.
  virtual double captured_seconds() { return 0; }
  // The most bytes of a device that weights and allocate() held at a time, without what operations
  // keep for themselves (split operands, a library's workspace); 0 for host memory.
  virtual std::uint64_t peak_device_bytes() const { return 0; }

  // For Kind::gpu: the operation of that name, family.operation. Throws Error{device} where the
  // backend has none.
  virtual GpuOp gpu_op(std::string_view name);
};

struct ContextOptions {
  Precision precision = Precision::fp32;
  int n_threads = 1;                   // of a CPU context
  std::uint64_t max_device_bytes = 0;  // 0: what is free
};

// A device of this build's GPU backend. Throws Error{device} where there is none.
std::unique_ptr<Context> make_gpu_context(int device, const ContextOptions& options);

// A context without memory or operations, whose tensors have shapes and null addresses. A forward
// pass over it and a measuring arena gives the bytes that a real one needs.
std::unique_ptr<Context> make_dry_run_context(Precision precision);

}  // namespace biogpu::tensor
