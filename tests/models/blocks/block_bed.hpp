#pragma once

// Random weights under the names of a checkpoint, for the context under test and for a program in
// double precision, and how near the two come.

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/models/blocks/double_rows.hpp"
#include "tests/ops/op_bed.hpp"

namespace biogpu::test {

inline Numbers doubles(const std::vector<float>& x) { return {x.begin(), x.end()}; }

class BlockBed {
 public:
  explicit BlockBed(const Subject& subject)
      : bed_(subject), arena_(bed_.device().allocate(kArenaBytes), kArenaBytes) {}

  Bed& bed() { return bed_; }
  Context& context() { return bed_.device(); }
  tensor::Arena& arena() { return arena_; }

  // Rows of numbers of about 1 become rows of about `gain`.
  void add_linear(const std::string& name, std::int64_t n_out, std::int64_t n_in, float gain,
                  bool has_bias = false) {
    const float size = gain / std::sqrt(static_cast<float>(n_in));
    const Pair weight = bed_.random({n_out, n_in}, size, true);
    DoubleLayer layer{static_cast<std::size_t>(n_out),
                      static_cast<std::size_t>(n_in),
                      doubles(weight.values),
                      {}};
    Pair bias;
    if (has_bias) {
      bias = bed_.random({n_out}, 0.5f, false);
      layer.bias = doubles(bias.values);
    }
    linears_[name] = context().upload_linear(weight.host, bias.host);
    layers_[name] = std::move(layer);
  }
  void add_norm(const std::string& name, std::int64_t d) {
    Pair weight = bed_.random({d}, 0.3f, false);
    std::vector<float> around_one = weight.values;
    for (float& number : around_one) number += 1;
    weight = bed_.pair({d}, around_one, false);
    const Pair bias = bed_.random({d}, 0.3f, false);
    norms_[name] = {weight.device, bias.device};
    layers_[name] = {static_cast<std::size_t>(d), 1, doubles(weight.values), doubles(bias.values)};
  }
  void add_table(const std::string& name, std::int64_t n_rows, std::int64_t n_columns) {
    const Pair table = bed_.random({n_rows, n_columns}, 1, false);
    tables_[name] = table.device;
    layers_[name] = {static_cast<std::size_t>(n_columns), 1, doubles(table.values), {}};
  }

  const Linear& linear(const std::string& name) const { return linears_.at(name); }
  const tensor::Norm& norm(const std::string& name) const { return norms_.at(name); }
  const Tensor& table(const std::string& name) const { return tables_.at(name); }
  const DoubleLayers& layers() const { return layers_; }

  // What a block made of `start`. In fp32 each number is within 2e-5 of the root mean square of all
  // that is right: 40 roundings of GPUs' fp32 products (2^-21). In any precision what the block
  // added is within ten roundings of a product, as a whole: with an error of ten roundings u
  // across, 1 - cosine is (10 u)^2 / 2.
  void check(const Tensor& got, const std::vector<float>& start, const Numbers& right) {
    const std::vector<float> numbers = bed_.fetch(got);
    REQUIRE(numbers.size() == right.size());
    double apart = 0, squares = 0, own = 0, wanted = 0, both = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
      apart = worse_of(apart, std::fabs(numbers[i] - right[i]));
      squares += right[i] * right[i];
      const double from = start.empty() ? 0 : start[i];
      own += (numbers[i] - from) * (numbers[i] - from);
      wanted += (right[i] - from) * (right[i] - from);
      both += (numbers[i] - from) * (right[i] - from);
    }
    const double spread = std::sqrt(squares / static_cast<double>(right.size()));
    const double cosine = both / std::sqrt(own * wanted);
    CAPTURE(apart / spread, 1 - cosine);
    if (bed_.precision() == Precision::fp32) CHECK(apart < 2e-5 * spread);
    CHECK(1 - cosine < 50 * rounding() * rounding());
  }

 private:
  static constexpr std::size_t kArenaBytes = std::size_t{32} << 20;

  // Half the distance of operands, relative to them; of GPUs' fp32, that of products of two parts.
  double rounding() const {
    return bed_.precision() == Precision::bf16   ? 0x1p-9
           : bed_.precision() == Precision::fp16 ? 0x1p-12
                                                 : 0x1p-21;
  }

  Bed bed_;
  tensor::Arena arena_;
  std::map<std::string, Linear> linears_;
  std::map<std::string, tensor::Norm> norms_;
  std::map<std::string, Tensor> tables_;
  DoubleLayers layers_;
};

}  // namespace biogpu::test
