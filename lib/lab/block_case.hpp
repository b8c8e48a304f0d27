#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "lib/lab/double_rows.hpp"
#include "lib/lab/random_weights.hpp"
#include "lib/models/structure/block_parts.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::lab {

// Tokens (or atoms) of an input, and the width of what a block works on.
struct Extents {
  std::int64_t n = 0;
  std::int64_t c = 0;
};

// Heads of 32 numbers as far as the width has them; one of all where it has fewer.
struct HeadShape {
  explicit HeadShape(std::int64_t c)
      : n_heads(std::max<std::int64_t>(1, c / 32)), d_head(std::min<std::int64_t>(c, 32)) {}
  std::int64_t n_heads, d_head;
  std::int64_t width() const { return n_heads * d_head; }
};

// What a case is made for: the type of operands of the context that it will run on, and a seed.
struct CaseSettings {
  tensor::DType operand = tensor::DType::f32;
  std::uint64_t seed = 1;
};

// Numbers on the host, which the double-precision program reads, and in a context's memory.
struct CaseTensor {
  std::vector<float> values;
  tensor::Tensor host, device;
  bool is_operand = false;
  std::vector<std::int32_t> indices = {};  // in place of values
};

// A block at one size, with random weights and inputs.
class BlockCase {
 public:
  explicit BlockCase(const CaseSettings& settings)
      : weights_(settings.seed, settings.operand),
        random_(settings.seed + 1),
        operand_(settings.operand) {}
  virtual ~BlockCase() = default;
  BlockCase(const BlockCase&) = delete;
  BlockCase& operator=(const BlockCase&) = delete;

  // Reads the weights under their names and copies the inputs. Once.
  void upload(tensor::Context& context);
  // Copies the inputs again, to memory of their own: what ran on them is undone.
  void reload(tensor::Context& context);
  // Gives the inputs' memory back; the weights stay until the context ends.
  void release(tensor::Context& context);
  // Queues the operations. Outputs are inputs to which a block adds, or tensors of their own.
  virtual void run(const models::BlockContext& run) = 0;
  // f32 [rows, width], contiguous.
  virtual tensor::Tensor output() const = 0;
  // The row of the output after one run, in double precision by plain loops.
  virtual Row expected(std::int64_t row) const = 0;
  // The row before it; empty where the block adds to nothing. For the error of what it adds.
  virtual Row start(std::int64_t row) const = 0;

  virtual double operations() const = 0;  // multiplications and additions
  virtual double bytes() const = 0;       // that have to be moved at least
  const RandomWeights& weights() const { return weights_; }

 protected:
  virtual void read(tensor::Context& context, tensor::WeightTable& table) = 0;
  // Numbers of about 1, copied by upload(). The reference stays valid.
  CaseTensor& add_input(std::initializer_list<std::int64_t> shape, float deviation = 1);
  // The same as operands.
  CaseTensor& add_operand(std::initializer_list<std::int64_t> shape);
  // 0 or 1: about one in `one_in` is 0, all of them 1 where that is 0.
  CaseTensor& add_mask(std::initializer_list<std::int64_t> shape, int one_in);
  CaseTensor& add_values(std::initializer_list<std::int64_t> shape, std::vector<float> values);
  // i32 [n].
  CaseTensor& add_indices(std::vector<std::int32_t> indices);

  RandomWeights weights_;
  Random random_;
  const tensor::DType operand_;

 private:
  void upload_inputs(tensor::Context& context);

  std::vector<std::unique_ptr<CaseTensor>> inputs_;
};

// A block, or another implementation of one.
struct Block {
  std::string name;     // "triangle-product-out"
  std::string variant;  // empty: the one that models run; else what differs: "separate"
  std::string description;
  std::vector<Extents> shapes;  // measured where none are asked for; the first is the smallest
  std::function<std::unique_ptr<BlockCase>(const Extents& extents, const CaseSettings& settings)>
      make;

  std::string label() const { return variant.empty() ? name : name + ":" + variant; }
};

}  // namespace biogpu::lab
