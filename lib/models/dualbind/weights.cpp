#include "lib/models/dualbind/weights.hpp"

#include <vector>

#include "lib/bio/molecule/graph/molecule_graph.hpp"
#include "lib/models/dualbind/pocket.hpp"

namespace biogpu::models::dualbind {
namespace {

using tensor::DType;
using tensor::HostTensor;
using tensor::Tensor;

constexpr std::int64_t kAtomFeatures = molecule::MoleculeGraph::kAtomFeatures;
constexpr std::int64_t kBondFeatures = molecule::MoleculeGraph::kBondFeatures;
constexpr float kEps = 1e-5f;

// A matrix on the host in double precision.
struct Matrix {
  std::int64_t n_rows = 0, n_columns = 0;
  std::vector<double> values;

  Matrix(std::int64_t rows, std::int64_t columns)
      : n_rows(rows), n_columns(columns), values(static_cast<std::size_t>(rows * columns)) {}
  Matrix(const HostTensor& from, std::int64_t rows, std::int64_t columns) : Matrix(rows, columns) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(from.values[i]);
  }
  double& at(std::int64_t row, std::int64_t column) {
    return values[static_cast<std::size_t>(row * n_columns + column)];
  }
  double at(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * n_columns + column)];
  }
  Matrix columns(std::int64_t begin, std::int64_t end) const {
    Matrix part(n_rows, end - begin);
    for (std::int64_t r = 0; r < n_rows; ++r)
      for (std::int64_t c = begin; c < end; ++c) part.at(r, c - begin) = at(r, c);
    return part;
  }
  Matrix operator*(const Matrix& other) const {
    Matrix product(n_rows, other.n_columns);
    for (std::int64_t r = 0; r < n_rows; ++r)
      for (std::int64_t k = 0; k < n_columns; ++k)
        for (std::int64_t c = 0; c < other.n_columns; ++c)
          product.at(r, c) += at(r, k) * other.at(k, c);
    return product;
  }
};

class Reader {
 public:
  Reader(const Config& config, tensor::WeightTable& table, tensor::Context& context)
      : d_(config.width), config_(config), table_(table), context_(context) {
    table_.sum_in_parts();
  }

  Weights read();

 private:
  Matrix take(const std::string& name, std::int64_t n_rows, std::int64_t n_columns) {
    return {table_.take(name, {n_rows, n_columns}), n_rows, n_columns};
  }
  Matrix take_bias(const std::string& name, std::int64_t n) {
    return {table_.take(name, {n}), n, 1};
  }
  tensor::Linear upload(const Matrix& weight, const Matrix* bias = nullptr);
  Tensor upload_rows(const Matrix& matrix);
  tensor::Linear linear(const std::string& name, std::int64_t n_out, std::int64_t n_in) {
    return table_.take_linear(context_, name, n_out, n_in);
  }
  void read_messages(Weights& weights);
  void read_tokens(Weights& weights);
  void read_block(Weights& weights);

  const std::int64_t d_;
  const Config& config_;
  tensor::WeightTable& table_;
  tensor::Context& context_;
};

tensor::Linear Reader::upload(const Matrix& weight, const Matrix* bias) {
  std::vector<float> numbers(weight.values.begin(), weight.values.end()), offsets;
  const Tensor host(numbers.data(), DType::f32, {weight.n_rows, weight.n_columns});
  Tensor offset;
  if (bias != nullptr) {
    offsets.assign(bias->values.begin(), bias->values.end());
    offset = Tensor(offsets.data(), DType::f32, {weight.n_rows});
  }
  tensor::Linear map = context_.upload_linear(host, offset);
  map.sum_in_parts = true;
  return map;
}

Tensor Reader::upload_rows(const Matrix& matrix) {
  std::vector<float> numbers(matrix.values.begin(), matrix.values.end());
  return context_.upload(Tensor(numbers.data(), DType::f32, {matrix.n_rows, matrix.n_columns}),
                         DType::f32);
}

// The first map reads an atom's features and a bond's: it is computed once an atom.
void Reader::read_messages(Weights& weights) {
  const Matrix in = take("mpn.W_i.weight", d_, kAtomFeatures + kBondFeatures);
  weights.atom_in = upload(in.columns(0, kAtomFeatures));
  weights.bond_in = upload(in.columns(kAtomFeatures, kAtomFeatures + kBondFeatures));
  weights.message = upload(take("mpn.W_h.weight", d_, d_));
  weights.atom_out = linear("mpn.W_o", d_, kAtomFeatures + d_);
}

void Reader::read_tokens(Weights& weights) {
  const std::int64_t d = d_;
  const Matrix map = take("encoder.linear.weight", d, 3 + 2 * d);
  const Matrix offset = take_bias("encoder.linear.bias", d);
  const Matrix chemistry = map.columns(3, 3 + d), types = map.columns(3 + d, 3 + 2 * d);
  const auto of_type = [&](const std::string& name) {
    const Matrix embedding = take(name, kAtomTypes, d);
    Matrix columns(d, kAtomTypes);
    for (std::int64_t r = 0; r < d; ++r)
      for (std::int64_t c = 0; c < kAtomTypes; ++c) columns.at(r, c) = embedding.at(c, r);
    return types * columns;
  };
  const Matrix ligand_types = of_type("encoder.A_bind.weight");
  const Matrix pocket_types = of_type("encoder.A_tgt.weight");
  Matrix ligand_offset = chemistry * take_bias("encoder.W_bind.bias", d);
  const Matrix pocket_offset = chemistry * take_bias("encoder.W_tgt.bias", d);
  for (std::int64_t r = 0; r < d; ++r)
    ligand_offset.at(r, 0) += offset.at(r, 0) + ligand_types.at(r, kLigandType);
  weights.ligand = upload(chemistry * take("encoder.W_bind.weight", d, d), &ligand_offset);
  const Matrix letters = chemistry * take("encoder.W_tgt.weight", d, kLetters);
  Matrix table(kLetters * kSlots, d);
  for (std::int64_t kind = 0; kind < table.n_rows; ++kind)
    for (std::int64_t c = 0; c < d; ++c)
      table.at(kind, c) = letters.at(c, kind / kSlots) + pocket_offset.at(c, 0) + offset.at(c, 0) +
                          pocket_types.at(c, atom_type(kind / kSlots, kind % kSlots));
  weights.pocket = upload_rows(table);
  Matrix frame(3, d);
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t c = 0; c < d; ++c) frame.at(i, c) = map.at(c, i);
  weights.frame = upload_rows(frame);
}

void Reader::read_block(Weights& weights) {
  const std::string block = "encoder.encoder.", self = block + "multihead_attention.";
  const std::string maps[] = {self + "wq", self + "wk", self + "wv"};
  weights.qkv = table_.take_linears(context_, maps, d_, d_, 1);
  weights.attention_out = linear(self + "dense", d_, d_);
  weights.ffn_up = linear(block + "linear1", config_.d_ffn, d_);
  weights.ffn_down = linear(block + "linear2", d_, config_.d_ffn);
  weights.attention_norm = table_.take_norm(context_, block + "norm1", d_, kEps);
  weights.ffn_norm = table_.take_norm(context_, block + "norm2", d_, kEps);
}

Weights Reader::read() {
  Weights weights;
  read_messages(weights);
  read_tokens(weights);
  read_block(weights);
  weights.ligand_head[0] = linear("binder_output.0", d_, d_);
  weights.ligand_head[1] = linear("binder_output.2", d_, d_);
  weights.pocket_head = linear("target_output.0", d_, d_);
  table_.ignore("mtl_loss.log_sigma");  // weighs two losses while a model is trained
  return weights;
}

}  // namespace

Weights read_weights(const Config& config, tensor::WeightTable& table, tensor::Context& context) {
  return Reader(config, table, context).read();
}

}  // namespace biogpu::models::dualbind
