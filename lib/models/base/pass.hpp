#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lib/io/arrays/shared_array.hpp"
#include "lib/tensor/context.hpp"

namespace biogpu::models {

// Results of a pass by name (hidden.12, logits, tracks.human, energy): fp32 or fp64, row-major.
class Outputs {
 public:
  struct Array {
    std::string name;
    std::vector<std::int64_t> shape;
    io::SharedArray values;            // fp32
    std::vector<double> doubles = {};  // fp64: values is empty
  };

  void add(Array array) { arrays_.push_back(std::move(array)); }
  // Null where there is no such output.
  const Array* find(std::string_view name) const;
  // Throws std::out_of_range where there is no such output: it was not asked for.
  const Array& at(std::string_view name) const;
  const std::vector<Array>& arrays() const { return arrays_; }

 private:
  std::vector<Array> arrays_;  // few
};

// Bytes of the passes of a model that were measured, by their keys.
class MeasuredPasses {
 public:
  // Null where it was not measured.
  const std::size_t* find(std::uint64_t key) const {
    const auto found = bytes_.find(key);
    return found == bytes_.end() ? nullptr : &found->second;
  }
  void add(std::uint64_t key, std::size_t bytes) {
    if (bytes_.size() == kMaxPasses) bytes_.clear();
    bytes_.emplace(key, bytes);
  }

 private:
  static constexpr std::size_t kMaxPasses = 4096;
  std::unordered_map<std::uint64_t, std::size_t> bytes_;
};

// One forward pass of a model: takes memory for inputs and outputs, runs operations, and fetches
// what came out. Everything that decides which operations run, and on which shapes, is part of the
// key by which a device repeats them: shapes of inputs and outputs are by themselves, anything else
// by depends_on().
class Pass {
 public:
  Pass(tensor::Context& context, tensor::Arena& arena, Outputs& outputs)
      : context_(context), arena_(arena), outputs_(&outputs) {
    // Passes of two models on one device, each in its own memory, are different ones.
    depends_on(reinterpret_cast<std::uintptr_t>(arena.memory()));
  }
  // One that is only measured: its operations run on a dry run, and not where a pass of the same
  // key was measured.
  Pass(tensor::Context& dry_run, tensor::Arena& measuring, MeasuredPasses& measured)
      : context_(dry_run), arena_(measuring), measured_(&measured) {}
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  tensor::Context& context() { return context_; }
  tensor::Arena& arena() { return arena_; }

  // Copies an input to the device. host: contiguous, of that type and shape; it may go after the
  // call.
  tensor::Tensor upload(tensor::DType dtype, std::initializer_list<std::int64_t> shape,
                        const void* host);
  tensor::Tensor upload(const std::vector<std::int32_t>& numbers);
  tensor::Tensor upload(const std::vector<float>& numbers);
  // starts: Ragged::starts.
  tensor::Ragged segments(const std::vector<std::int32_t>& starts);
  // Memory for an output, which operations fill: f32 or f64.
  tensor::Tensor output(std::string name, std::initializer_list<std::int64_t> shape,
                        tensor::DType dtype = tensor::DType::f32);
  void depends_on(std::uint64_t value);

  // The output of that name, or an empty tensor where none was taken.
  tensor::Tensor find(std::string_view name) const;

  // Runs the operations, once a pass, and fetches the outputs.
  void run(const std::function<void()>& operations);
  // After run(), of a pass that is only measured.
  std::size_t bytes() const { return std::max(bytes_, arena_.peak_bytes()); }

 private:
  struct Taken {
    std::string name;
    tensor::Tensor tensor;
  };
  void measure(MeasuredPasses& measured, const std::function<void()>& operations);
  void fetch(Outputs& outputs);

  tensor::Context& context_;
  tensor::Arena& arena_;
  Outputs* const outputs_ = nullptr;          // or
  MeasuredPasses* const measured_ = nullptr;  // of one that is only measured
  std::vector<Taken> taken_;
  std::uint64_t key_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace biogpu::models
