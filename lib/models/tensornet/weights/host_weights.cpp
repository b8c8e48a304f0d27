#include "lib/models/tensornet/weights/host_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "lib/core/error.hpp"

namespace biogpu::models::tensornet {
namespace {

using tensor::WeightTable;

std::vector<double> take(WeightTable& table, const std::string& name,
                         std::initializer_list<std::int64_t> shape) {
  return table.take_doubles(name, shape);
}

HostLinear take_linear(WeightTable& table, const std::string& name, std::int64_t n_out,
                       std::int64_t n_in, bool has_bias = true) {
  HostLinear linear{n_out, n_in, take(table, name + ".weight", {n_out, n_in}), {}};
  if (has_bias) linear.bias = take(table, name + ".bias", {n_out});
  return linear;
}

HostNorm take_norm(WeightTable& table, const std::string& name, std::int64_t d) {
  return {take(table, name + ".weight", {d}), take(table, name + ".bias", {d})};
}

// Rows 3 f + p to p F + f.
void sort_rows(HostLinear& linear) {
  const auto n_rows = static_cast<std::size_t>(linear.n_out), f_end = n_rows / 3,
             n_in = static_cast<std::size_t>(linear.n_in);
  const HostLinear from = linear;
  for (std::size_t p = 0; p < 3; ++p)
    for (std::size_t f = 0; f < f_end; ++f) {
      std::copy_n(from.weight.begin() + static_cast<std::ptrdiff_t>((3 * f + p) * n_in), n_in,
                  linear.weight.begin() + static_cast<std::ptrdiff_t>((p * f_end + f) * n_in));
      linear.bias[p * f_end + f] = from.bias[3 * f + p];
    }
}

void read_radial(const Config& config, WeightTable& table, HostWeights& weights) {
  const std::int64_t n = config.n_radial;
  if (config.dialect == Config::Dialect::matgl) {
    if (config.radial == Config::Radial::gaussian) {
      weights.centres = take(table, "bond_expansion.rbf.centers", {n});
      weights.steepness.assign(static_cast<std::size_t>(n), config.gaussian_width);
    } else {
      table.ignore("bond_expansion.rbf.cutoff");
    }
  } else if (config.radial == Config::Radial::exponential) {
    weights.centres = take(table, "distance_expansion.means", {n});
    weights.steepness = take(table, "distance_expansion.betas", {n});
  } else {
    weights.centres = take(table, "distance_expansion.offset", {n});
    weights.steepness.assign(static_cast<std::size_t>(n),
                             -table.take_scalar("distance_expansion.coeff"));
  }
}

// The three maps of distances as one.
void read_distances(const Config& config, WeightTable& table, HostWeights& weights) {
  const std::int64_t f = config.width;
  weights.distances = {3 * f, config.n_radial, {}, {}};
  for (int p = 0; p < 3; ++p) {
    HostLinear part = take_linear(table, fmt::format("tensor_embedding.distance_proj{}", p + 1), f,
                                  config.n_radial);
    // Opposite vectors change the sign of the antisymmetric part alone.
    const double sign = config.opposite_vectors && p == 1 ? -1 : 1;
    for (const double x : part.weight) weights.distances.weight.push_back(sign * x);
    for (const double x : part.bias) weights.distances.bias.push_back(sign * x);
  }
}

// emb2 of two embeddings side by side is a sum of two products, one for each atom.
void read_types(const Config& config, WeightTable& table, HostWeights& weights) {
  const std::int64_t f = config.width, n_types = config.n_types;
  const std::vector<double> types = take(table, "tensor_embedding.emb.weight", {n_types, f});
  const HostLinear pair = take_linear(table, "tensor_embedding.emb2", f, 2 * f);
  std::vector<double> products[2];
  for (std::int64_t half = 0; half < 2; ++half)
    for (std::int64_t t = 0; t < n_types; ++t)
      for (std::int64_t o = 0; o < f; ++o) {
        double sum = half == 0 ? pair.bias[static_cast<std::size_t>(o)] : 0;
        for (std::int64_t k = 0; k < f; ++k)
          sum += pair.weight[static_cast<std::size_t>(o * 2 * f + half * f + k)] *
                 types[static_cast<std::size_t>(t * f + k)];
        products[half].push_back(sum);
      }
  weights.receiver = std::move(products[config.neighbour_first ? 1 : 0]);
  weights.neighbour = std::move(products[config.neighbour_first ? 0 : 1]);
}

void read_embedding(const Config& config, WeightTable& table, HostWeights& weights) {
  const std::int64_t f = config.width;
  const std::string name = "tensor_embedding.";
  read_distances(config, table, weights);
  read_types(config, table, weights);
  weights.embedding_norm = take_norm(table, name + "init_norm", f);
  weights.embedding_scalars[0] = take_linear(table, name + "linears_scalar.0", 2 * f, f);
  weights.embedding_scalars[1] = take_linear(table, name + "linears_scalar.1", 3 * f, 2 * f);
  if (config.rows_by_channel) sort_rows(weights.embedding_scalars[1]);
  for (int p = 0; p < 3; ++p)
    weights.embedding_tensors[p] =
        take_linear(table, fmt::format("{}linears_tensor.{}", name, p), f, f, false);
}

// Columns of the first radial map: of distances, of the receiver's charges, of the neighbour's.
void split_charges(const Config& config, HostLayer& layer) {
  const HostLinear all = layer.radial[0];
  const auto columns = [&](std::int64_t begin, std::int64_t n) {
    HostLinear part{all.n_out, n, {}, {}};
    for (std::int64_t o = 0; o < all.n_out; ++o)
      for (std::int64_t k = 0; k < n; ++k)
        part.weight.push_back(all.weight[static_cast<std::size_t>(o * all.n_in + begin + k)]);
    return part;
  };
  const std::int64_t r = config.n_radial, c = config.n_charges;
  layer.radial[0] = columns(0, r);
  layer.radial[0].bias = all.bias;
  layer.receiver_charges = columns(r, c);
  layer.neighbour_charges = columns(r + c, c);
}

HostChargeHead read_charge_head(const Config& config, WeightTable& table, const std::string& name) {
  const std::int64_t f = config.width;
  HostChargeHead head;
  head.norm = take_norm(table, name + ".q_norm", 3 * f);
  const std::int64_t widths[4] = {3 * f, f, f, 2 * config.n_charges};
  for (int i = 0; i < 3; ++i)
    head.maps.push_back(take_linear(table, fmt::format("{}.q_mlp.layers.{}", name, 2 * i),
                                    widths[i + 1], widths[i]));
  return head;
}

void read_charge_heads(const Config& config, WeightTable& table, HostWeights& weights) {
  weights.charge_heads.push_back(read_charge_head(config, table, "charge_predict_0"));
  for (std::int64_t i = 0; i < config.n_layers; ++i)
    weights.charge_heads.push_back(
        read_charge_head(config, table, fmt::format("charge_predicts.{}", i)));
  if (!config.has_coulomb) return;
  // Half the energy of two charges in eV Angstrom: both atoms have it.
  constexpr double kHalfCoulomb = 0.5 * 27.211386024367243 * 0.5291772105638411;
  const std::string name = "output_model.qweights";
  weights.coulomb_weights = take(table, name, {(config.n_layers + 1) * config.n_charges});
  double& sum = weights.coulomb_sum;
  for (const double weight : weights.coulomb_weights) sum += weight;
  for (double& weight : weights.coulomb_weights) weight *= kHalfCoulomb / sum;
  table.ignore("output_model.distance.box");
}

HostLayer read_layer(const Config& config, WeightTable& table, std::int64_t index) {
  HostLayer layer;
  const std::int64_t f = config.width;
  const std::string name = fmt::format("layers.{}.", index);
  const std::int64_t widths[4] = {config.n_radial + 2 * config.n_charges, f, 2 * f, 3 * f};
  for (int i = 0; i < 3; ++i)
    layer.radial[i] =
        take_linear(table, fmt::format("{}linears_scalar.{}", name, i), widths[i + 1], widths[i]);
  if (config.n_charges > 0)
    split_charges(config, layer);  // its rows always were in this order
  else if (config.rows_by_channel)
    sort_rows(layer.radial[2]);
  for (int i = 0; i < 6; ++i)
    layer.tensors[i] = take_linear(table, fmt::format("{}linears_tensor.{}", name, i), f, f, false);
  return layer;
}

void read_repulsion(const Config& config, WeightTable& table, HostWeights& weights) {
  // torchmd-net's tables end with the elements that it has radii of.
  const std::int64_t n = std::min<std::int64_t>(config.n_types, structure::kMaxAtomicNumber + 1);
  HostRepulsion& tables = weights.repulsion;
  tables.powers = take(table, "repulsion.z_pow", {n});
  tables.products = take(table, "repulsion.z_outer", {n, n});
  tables.cutoffs = take(table, "repulsion.cutoff_ab", {n, n});
}

void read_gated_head(const Config& config, WeightTable& table, HostWeights& weights) {
  const std::int64_t f = config.width;
  for (int i = 0; i < 4; ++i) {
    const std::int64_t n_out = i == 3 ? 1 : f;
    weights.head.push_back(
        take_linear(table, fmt::format("final_layer.gated.layers.{}", 2 * i), n_out, f));
    weights.gate.push_back(
        take_linear(table, fmt::format("final_layer.gated.gates.{}", 2 * i), n_out, f));
  }
}

// Added to those of another such prior. A table may have fewer rows than the model's types, whose
// end is then not known, or more.
void read_references(const Config& config, WeightTable& table, const std::string& name,
                     std::vector<double>& references) {
  const std::int64_t n_rows = table.n_rows(name);
  std::vector<double> rows = take(table, name, {n_rows, 1});
  const auto n_types = static_cast<std::size_t>(config.n_types);
  if (references.empty()) references.assign(n_types, 0);
  references.resize(std::min(references.size(), rows.size()));
  for (std::size_t t = 0; t < references.size(); ++t) references[t] += rows[t];
}

void read_prior(const Config& config, std::size_t k, std::optional<bool> atom_references,
                WeightTable& table, HostWeights& weights) {
  const std::string name = fmt::format("prior_model.{}.", k);
  switch (config.priors[k].kind) {
    case Prior::Kind::atomref:
      table.ignore(name + "atomref.weight");
      table.ignore(name + "initial_atomref");
      if (atom_references.value_or(config.priors[k].is_on))
        read_references(config, table, name + "atomref.weight", weights.references);
      break;
    case Prior::Kind::zbl:
      table.ignore(name + "atomic_number");  // prior_args has it
      table.ignore(name + "distance.box");
      break;
    case Prior::Kind::d2:
      weights.dispersions[k] = {take(table, name + "C_6", {kDispersionElements}),
                                take(table, name + "R_r", {kDispersionElements})};
      table.ignore(name + "Z_map");
      table.ignore(name + "distances.box");
      break;
    case Prior::Kind::coulomb:
      table.ignore(name + "distance.box");
      break;
  }
}

void read_head(const Config& config, std::optional<bool> atom_references, WeightTable& table,
               HostWeights& weights) {
  const std::int64_t f = config.width;
  for (std::int64_t i = 0; i < config.n_head_layers + 2; ++i)
    weights.head.push_back(
        take_linear(table, fmt::format("output_model.output_network.layers.{}", 2 * i),
                    i == config.n_head_layers + 1 ? 1 : f / 2, i == 0 ? f : f / 2));
  // The hidden map of one channel has no rows: the last bias is left.
  if (f == 1) weights.head = {HostLinear{1, 1, {0}, weights.head.back().bias}};
  weights.mean = table.take_scalar("mean");
  weights.std = table.take_scalar("std");
  for (std::size_t k = 0; k < config.priors.size(); ++k)
    read_prior(config, k, atom_references, table, weights);
  table.ignore("distance.box");
}

void require_positive(std::span<const double> numbers, const std::string& name) {
  if (!std::all_of(numbers.begin(), numbers.end(), [](double x) { return x > 0; }))
    throw Error(ErrorCode::bad_input, name + " has a number that is not above 0");
}

// As many rows as columns.
void require_symmetric(const std::vector<double>& numbers, std::size_t n, const std::string& name) {
  for (std::size_t k = 0; k < n * n; ++k)
    if (!(numbers[k] >= 0 && numbers[k] == numbers[k % n * n + k / n]))
      throw Error(ErrorCode::bad_input, name + " is not symmetric or has a number below 0");
}

}  // namespace

void check_weights(const HostWeights& weights, const std::string& file) {
  if (!weights.coulomb_weights.empty() && weights.coulomb_sum == 0)
    throw Error(ErrorCode::bad_input,
                file + ": output_model.qweights has a sum of 0; expected one that is not");
  const std::string repulsion = file + ": repulsion.";
  const std::size_t n = weights.repulsion.powers.size();
  require_positive(weights.repulsion.powers, repulsion + "z_pow");
  require_symmetric(weights.repulsion.products, n, repulsion + "z_outer");
  require_symmetric(weights.repulsion.cutoffs, n, repulsion + "cutoff_ab");
  for (const auto& [k, tables] : weights.dispersions) {
    // Tables begin with a number of no element.
    const std::string prior = fmt::format("{}: prior_model.{}.", file, k);
    require_positive(std::span(tables.c6).subspan(1), prior + "C_6");
    require_positive(std::span(tables.radii).subspan(1), prior + "R_r");
  }
}

void set_backend(Config& config, WeightTable& table, const std::string& file) {
  if (config.dialect != Config::Dialect::matgl) return;
  if (table.has("tensor_embedding.emb3.weight")) {
    if (config.backend == Config::Backend::pyg)
      throw Error(ErrorCode::bad_input,
                  file +
                      ": has tensor_embedding.emb3, so it is of matgl's layers for DGL, but "
                      "backend is 'PYG'");
    config.backend = Config::Backend::dgl;
    for (const char* const part : {"weight", "bias"})
      table.ignore(fmt::format("tensor_embedding.emb3.{}", part));
  }
  config.sums_own_features = config.backend == Config::Backend::dgl;
  if (config.sums_own_features && !config.neighbour_first)
    throw Error(
        ErrorCode::bad_input,
        file +
            ": has weights of matgl's DGL layers with model_version 2; expected model_version 1");
}

void limit_elements(Config& config, const HostWeights& weights, const std::string& file) {
  if (weights.references.empty()) return;
  for (std::int32_t& type : config.type_of)
    if (type >= static_cast<std::int32_t>(weights.references.size())) type = -1;
  if (config.elements().empty())
    throw Error(ErrorCode::bad_input, file + ": has energies of free atoms of no element");
}

HostWeights read_weights(const Config& config, std::optional<bool> atom_references,
                         WeightTable& table) {
  table.alias_prefix("representation_model.", "");
  for (const std::string layer : {"0.", "2."})  // as files before version 2.0 have it
    table.alias_prefix("output_model.output_network." + layer,
                       "output_model.output_network.layers." + layer);
  HostWeights weights;
  read_radial(config, table, weights);
  read_embedding(config, table, weights);
  for (std::int64_t i = 0; i < config.n_layers; ++i)
    weights.layers.push_back(read_layer(config, table, i));
  if (config.n_charges > 0) read_charge_heads(config, table, weights);
  if (config.has_repulsion) read_repulsion(config, table, weights);
  weights.readout_norm = take_norm(table, "out_norm", 3 * config.width);
  weights.readout = take_linear(table, "linear", config.width, 3 * config.width);
  if (config.gated) {
    read_gated_head(config, table, weights);
    weights.mean = config.mean;
    weights.std = config.std;
    weights.references = config.references;
  } else {
    read_head(config, atom_references, table, weights);
  }
  return weights;
}

}  // namespace biogpu::models::tensornet
