#include "lib/c_api/block_run.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "lib/c_api/block_arrays.hpp"
#include "lib/c_api/calls.hpp"
#include "lib/core/error.hpp"
#include "lib/models/structure/diffusion_blocks.hpp"
#include "lib/ops/elementwise/map.hpp"
#include "lib/tensor/views.hpp"

namespace biogpu::c_api {
namespace {

using models::BlockContext;
using tensor::DType;
using tensor::Tensor;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorCode::usage, what); }

// Extents of a call, each that of the first array which has it; -1 until then.
class CallExtents {
 public:
  // Checks that the array has the shape, alone or behind an axis of batches.
  void require_and_bind(const Tensor& x, const char* name, const std::vector<std::int64_t>& shape) {
    const bool has_batches = x.rank != static_cast<int>(shape.size());
    require_shape(x, name, expected(shape, has_batches));
    const std::size_t first = has_batches ? 1 : 0;
    if (has_batches) bind(kBatches, x.shape[0]);
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] < 0) bind(shape[axis], x.shape[first + axis]);
    require_shape(x, name, expected(shape, has_batches));  // extents that it has twice
  }
  // 1 where no array has an axis of them.
  std::int64_t batches() const { return of(kBatches) < 0 ? 1 : of(kBatches); }

 private:
  static constexpr std::int64_t kBatches = -4;

  std::vector<std::int64_t> expected(const std::vector<std::int64_t>& shape,
                                     bool has_batches) const {
    std::vector<std::int64_t> extents;
    if (has_batches) extents.push_back(of(kBatches));
    for (const std::int64_t extent : shape) extents.push_back(extent < 0 ? of(extent) : extent);
    return extents;
  }
  std::int64_t of(std::int64_t name) const {
    if (name != kWindows) return found_[static_cast<std::size_t>(-name)];
    const std::int64_t n = of(kTokens);
    return n < 0 ? -1 : (n + models::kWindowQueries - 1) / models::kWindowQueries;
  }
  void bind(std::int64_t name, std::int64_t extent) {
    found_[static_cast<std::size_t>(-name)] = extent;
  }

  std::array<std::int64_t, 5> found_{-1, -1, -1, -1, -1};
};

// The arrays of a call, each with an axis of batches.
struct CallArrays {
  std::vector<Tensor> inputs;  // empty where not given
  Tensor out;
  bool adds = false;
};

std::string names_of(const MadeBlock& block) {
  std::string names;
  for (const InputSpec& spec : block.inputs) {
    if (!names.empty()) names += ", ";
    names += spec.name;
  }
  return names;
}

// The arrays in the order of the block.
std::vector<const biogpu_block_tensor*> ordered(const MadeBlock& block,
                                                const biogpu_block_call& call) {
  require(call.n_inputs >= 0 && (call.inputs != nullptr || call.n_inputs == 0),
          "inputs are NULL, or fewer than 0");
  std::vector<const biogpu_block_tensor*> arrays(block.inputs.size(), nullptr);
  for (std::int32_t i = 0; i < call.n_inputs; ++i) {
    const biogpu_block_input& input = call.inputs[i];
    require(input.name != nullptr, "an input without a name");
    const std::string name = input.name;
    std::size_t at = 0;
    while (at < arrays.size() && name != block.inputs[at].name) ++at;
    if (at == arrays.size()) refuse(fmt::format("input {}; expected {}", name, names_of(block)));
    if (arrays[at] != nullptr) refuse(fmt::format("{}: given twice", name));
    arrays[at] = &input.tensor;
  }
  return arrays;
}

Tensor with_batches(const Tensor& x, std::size_t rank, std::int64_t n_batches) {
  return x.rank == static_cast<int>(rank) ? tensor::repeated(x, 0, n_batches) : x;
}

CallArrays arrays_of(BlockDevice& device, const MadeBlock& block, const biogpu_block_call& call) {
  require(call.add == 0 || call.add == 1, "add: neither 0 nor 1");
  CallArrays arrays;
  arrays.adds = call.add == 1;
  CallExtents extents;
  const auto given = ordered(block, call);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const InputSpec& spec = block.inputs[i];
    const Tensor x =
        given[i] == nullptr ? Tensor() : tensor_of(*given[i], spec.name, device.operand());
    arrays.inputs.push_back(x);
    const bool is_needed =
        spec.kind == InputSpec::Kind::numbers || (arrays.adds && i == block.updated);
    if (x.empty() && !is_needed) continue;
    extents.require_and_bind(x, spec.name, spec.shape);
    if (spec.kind == InputSpec::Kind::mask && x.dtype != DType::f32)
      refuse(fmt::format("{}: {}; expected f32", spec.name, tensor::name_of(x.dtype)));
    if (x.dtype == DType::u8)
      refuse(fmt::format("{}: u8; expected floating-point numbers", spec.name));
  }
  arrays.out = tensor_of(call.out, "out", device.operand());
  require_result(arrays.out, "out");
  const std::vector<std::int64_t>& shape = block.inputs[block.updated].shape;
  extents.require_and_bind(arrays.out, "out", shape);
  if (arrays.out.rank == static_cast<int>(shape.size()) && extents.batches() != 1)
    refuse(fmt::format("out: no axis for {} batches", extents.batches()));
  for (std::size_t i = 0; i < given.size(); ++i) {
    Tensor& x = arrays.inputs[i];
    if (x.empty()) continue;
    if (x.size() == 0 && arrays.out.size() > 0)
      refuse(fmt::format("{}: no numbers", block.inputs[i].name));
    x = with_batches(x, block.inputs[i].shape.size(), extents.batches());
  }
  arrays.out = with_batches(arrays.out, shape.size(), 1);
  return arrays;
}

// Whether all items share the inputs that have not their rows.
bool have_shared_inputs(const MadeBlock& block, const CallArrays& arrays) {
  for (std::size_t i = block.n_of_rows; i < arrays.inputs.size(); ++i)
    if (!arrays.inputs[i].empty() && arrays.inputs[i].stride[0] != 0) return false;
  return block.n_of_rows > 0;
}

// One item, or all of them as rows of one.
void write_items(const BlockContext& run, const MadeBlock& block, const CallArrays& arrays,
                 std::int64_t item, bool as_rows) {
  const auto scope = run.arena.scope();
  std::vector<Tensor> inputs;
  Tensor residual;
  for (std::size_t i = 0; i < arrays.inputs.size(); ++i) {
    const bool has_rows = as_rows && i < block.n_of_rows;
    Tensor x = arrays.inputs[i];
    if (!x.empty())
      x = contiguous_floats(run, has_rows ? x : item_of(x, item),
                            block.inputs[i].kind != InputSpec::Kind::mask);
    if (arrays.adds && i == block.updated) residual = x;
    inputs.push_back(has_rows ? rows_of(x) : x);
  }
  const Tensor out = as_rows ? arrays.out : item_of(arrays.out, item);
  if (out.contiguous() && (!arrays.adds || out.dtype == residual.dtype)) {
    block.write(run, inputs, {rows_of(residual), rows_of(out)});
    return;
  }
  const Tensor update = contiguous_like(run, out, DType::f32);
  block.write(run, inputs, {Tensor(), rows_of(update)});
  ops::map(run.context,
           arrays.adds ? ops::map_add(residual, update, out) : ops::map_copy(update, out));
}

}  // namespace

BlockDevice::Body body_of(BlockDevice& device, const MadeBlock& block,
                          const biogpu_block_call& call) {
  CallArrays arrays = arrays_of(device, block, call);
  if (arrays.out.size() == 0) return [](const BlockContext&) {};
  return [arrays = std::move(arrays), &block](const BlockContext& run) {
    const std::int64_t n_items = arrays.out.shape[0];
    const bool as_rows = n_items > 1 && have_shared_inputs(block, arrays);
    for (std::int64_t item = 0; item < (as_rows ? 1 : n_items); ++item)
      write_items(run, block, arrays, item, as_rows);
  };
}

}  // namespace biogpu::c_api
