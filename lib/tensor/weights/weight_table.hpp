#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/core/big_array.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/safetensors.hpp"

namespace biogpu::tensor {

// Numbers of one weight on the host, contiguous.
struct HostTensor {
  BigArray<float> values;
  Tensor view;         // f32, over values
  bool found = false;  // of this shape in the checkpoint, and all finite
};

// One of several maps of the same input.
struct LinearPart {
  std::string name;
  std::int64_t n_out = 0;
  float scale = 1;  // of its weight and bias
};

// Takes a model's weights out of a checkpoint by name and notes what is wrong, so that one message
// tells all of it: tensors that are missing, have another shape or type, or that nobody asked for.
// Wrappers' prefixes, module., model. and _orig_mod., in any order, are left out of all names. A
// name may have aliases: the first that the checkpoint has counts. All threads of the calling
// task arena read.
class WeightTable {
 public:
  // Whether the numbers of linear maps are read: a description of a model needs none.
  enum class Maps { read, only_checked };

  explicit WeightTable(const Checkpoint& checkpoint, Maps maps = Maps::read)
      : checkpoint_(checkpoint), maps_(maps) {}

  // Renames before any lookup: a checkpoint's name that begins with `from` is known as `to` + the
  // rest.
  void alias_prefix(std::string_view from, std::string_view to);
  void alias_suffix(std::string_view from, std::string_view to);
  // The same as alias_prefix() for files that may hold a tensor under both names: the two must be
  // equal.
  void alias_copies(std::string_view from, std::string_view to);
  // A tensor of this known name may be there, and its numbers are not used: for those alone that
  // published checkpoints have and the model's reference does not read.
  void ignore(std::string_view name) { ignored_.emplace(name); }

  // Linear maps that are taken after this call have Linear::sum_in_parts.
  void sum_in_parts() { sums_in_parts_ = true; }

  bool has(const std::string& name);
  bool has_prefix(std::string_view prefix);
  // Extent of the first axis of a tensor; 1 where the checkpoint has none of that name.
  std::int64_t n_rows(const std::string& name);
  Maps maps() const { return maps_; }
  std::size_t n_tensors() const { return checkpoint_.tensors().size(); }
  // Numbers of all tensors that were taken.
  std::uint64_t n_taken() const;
  // Zeros where something is wrong with it; finish() will tell. A shape of more numbers than all
  // of the checkpoint has is told at once, before there is room for it.
  HostTensor take(const std::string& name, std::initializer_list<std::int64_t> shape);
  // The same, with all digits of a tensor of double precision.
  std::vector<double> take_doubles(const std::string& name,
                                   std::initializer_list<std::int64_t> shape);
  // A number of no axes with all its digits; 0 where something is wrong with it.
  double take_scalar(const std::string& name);
  Linear take_linear(Context& context, const std::string& name, std::int64_t n_out,
                     std::int64_t n_in);  // name.weight, name.bias
  // Maps of one input as one, n_out outputs of each behind those of the one before. What the first
  // gives is multiplied by first_scale. Empty where something is wrong with one of them, or where
  // maps are only checked.
  Linear take_linears(Context& context, std::span<const std::string> names, std::int64_t n_out,
                      std::int64_t n_in, float first_scale);
  // Maps of one input as one, each with its own outputs and scale, all with a bias or none.
  Linear take_linear_parts(Context& context, std::span<const LinearPart> parts, std::int64_t n_in,
                           bool has_bias);
  Norm take_norm(Context& context, const std::string& name, std::int64_t d, float eps);

  // Notes that a weight is another one than what config.json says that it is.
  void note_untied(const std::string& name) { untied_.push_back(name); }
  // Notes that of weights that the model has once this one differs from another.
  void note_unequal(const std::string& name) { unequal_.push_back(name); }

  // Throws Error{bad_input} that names some tensors of each kind of defect, in one short line.
  void finish();

 private:
  const StoredTensor* find(const std::string& name);
  // Of this shape, or nullptr and what is wrong noted.
  const StoredTensor* find_fitting(const std::string& name, const Tensor& shape);
  // Numbers times scale to a tensor of their shape; whether all are finite.
  bool read(const std::string& name, const StoredTensor& stored, const Tensor& to, float scale);
  void index();
  // Of a tensor that the file has under another of its names already.
  void note_double(const std::string& stored, const std::string& name, const StoredTensor& first);
  // All defects so far; empty where there are none. unknown: tensors that were not asked for.
  std::string defects(const std::vector<std::string>& unknown = {}) const;

  const Checkpoint& checkpoint_;
  const Maps maps_;
  bool sums_in_parts_ = false;
  struct Prefix {
    std::string from, to;
    bool copies;
  };
  std::vector<Prefix> prefixes_;
  std::vector<std::pair<std::string, std::string>> suffixes_;
  std::set<std::string, std::less<>> ignored_;
  std::map<std::string, const StoredTensor*, std::less<>> known_;  // empty until the first lookup
  std::set<std::string> taken_;
  std::vector<std::string> missing_, misshapen_, not_finite_, untied_, unequal_, doubled_,
      unequal_copies_;
  BigArray<float> room_;  // of one weight after the other: new pages take longer than the numbers
};

}  // namespace biogpu::tensor
