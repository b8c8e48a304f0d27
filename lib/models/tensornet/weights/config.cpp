#include "lib/models/tensornet/weights/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/core/quote.hpp"

namespace biogpu::models::tensornet {
namespace {

double read_length(const ModelConfig& config, const char* key, double otherwise) {
  const double length = config.number_or(key, otherwise);
  if (!(length >= 0 && length <= 100))
    config.fail(fmt::format("{} is {}; expected Angstrom from 0 to 100", key, length));
  return length;
}

std::int64_t read_layers(const ModelConfig& config, const char* key, std::int64_t otherwise) {
  const std::int64_t n = config.integer_or(key, otherwise);
  if (n < 0 || n > 64) config.fail(fmt::format("{} is {}; expected a number from 0 to 64", key, n));
  return n;
}

void read_activation(const ModelConfig& config, Config& read) {
  constexpr std::pair<const char*, Unit> kUnits[] = {
      {"silu", Unit::silu}, {"swish", Unit::silu},      {"ssp", Unit::shifted_softplus},
      {"tanh", Unit::tanh}, {"sigmoid", Unit::sigmoid}, {"mish", Unit::mish}};
  const std::string name = config.text_or("activation", "silu");
  for (const auto& [known, unit] : kUnits)
    if (name == known) {
      read.unit = unit;
      return;
    }
  config.fail(fmt::format(
      "activation is {}; known are 'silu', 'swish', 'ssp', 'tanh', 'sigmoid' and 'mish'",
      quoted(name)));
}

void read_reduction(const ModelConfig& config, Config& read) {
  const std::string name = config.text_or("reduce_op", "add");
  if (name != "add" && name != "sum" && name != "mean")
    config.fail(fmt::format("reduce_op is {}; known are 'add', 'sum' and 'mean'", quoted(name)));
  read.takes_mean = name == "mean";
}

// A box that torchmd-net's network takes where a call has none; its priors and other energies do
// not.
void read_box(const ModelConfig& config, Config& read) {
  if (!config.has("box_vecs")) return;
  std::vector<double> box = config.matrix("box_vecs", 3, 3);
  // In the precision of the model, whose weights it is kept with.
  if (config.integer_or("precision", 32) != 64)
    for (double& x : box) x = static_cast<double>(static_cast<float>(x));
  std::copy(box.begin(), box.end(), read.box.emplace().begin());
  if (read.has_coulomb || read.has_repulsion)
    config.fail("box_vecs with a Coulomb energy or a repulsion is not supported");
}

void read_group(const ModelConfig& config, Config& read) {
  const std::string group = config.text_or("equivariance_invariance_group", "O(3)");
  if (group != "O(3)" && group != "SO(3)")
    config.fail(fmt::format("equivariance_invariance_group is {}; known are 'O(3)' and 'SO(3)'",
                            quoted(group)));
  read.one_sided = group == "SO(3)";
}

void read_units(const ModelConfig& config, Config& read) {
  config.require("length_unit", std::string("angstrom"));
  read.energy_unit = config.text_or("energy_unit", "eV");
  if (read.energy_unit == "eV")
    read.ev_per_energy = 1;
  else if (read.energy_unit == "kcal/mol")
    read.ev_per_energy = kEvPerKcalMol;
  else if (read.energy_unit == "hartree")
    read.ev_per_energy = kEvPerHartree;
  else
    config.fail(fmt::format("energy_unit is {}; known are 'eV', 'kcal/mol', 'hartree'",
                            quoted(read.energy_unit)));
}

// What TensorNet2 has and TensorNet has not.
void read_charges(const ModelConfig& config, Config& read) {
  read.uses_charge = config.text_or("model_type", "tensornet") == "tensornet";
  if (read.uses_charge) {
    config.require("repulsion", false);
    return config.require("output_model", std::string("Scalar"));
  }
  read.n_charges = config.count("q_dim", 1024);
  const std::string output = config.text_or("output_model", "Scalar");
  if (output != "Scalar" && output != "ScalarPlusWeightedCoulomb")
    config.fail(
        fmt::format("output_model is {}; known are 'Scalar' and "
                    "'ScalarPlusWeightedCoulomb'",
                    quoted(output)));
  read.has_coulomb = output != "Scalar";
  read.coulomb_cutoff = read_length(config, "coulomb_cutoff", 0);
  // torchmd-net reads it for this output alone.
  if (read.has_coulomb) read.n_head_layers = read_layers(config, "output_mlp_num_layers", 0);
  read.has_repulsion = config.flag_or("repulsion", false);
}

// Whether all priors of pairs have an atomic number for a type of atom.
bool knows_type(const std::vector<Prior>& priors, std::int32_t type) {
  return std::all_of(priors.begin(), priors.end(), [&](const Prior& prior) {
    if (prior.kind == Prior::Kind::atomref || prior.kind == Prior::Kind::coulomb) return true;
    if (static_cast<std::size_t>(type) >= prior.atomic_numbers.size()) return false;
    const std::int32_t number = prior.atomic_numbers[static_cast<std::size_t>(type)];
    return prior.kind != Prior::Kind::d2 || (number > 0 && number < kDispersionElements);
  });
}

void read_torchmdnet(const ModelConfig& config, Config& read) {
  read.width = config.count("embedding_dimension", 4096);
  if (!config.has("num_layers")) config.fail("has no num_layers");
  read.n_layers = read_layers(config, "num_layers", 0);
  read.n_radial = config.count("num_rbf", 4096);
  const std::string radial = config.text_or("rbf_type", "expnorm");
  if (radial != "expnorm" && radial != "gauss")
    config.fail(fmt::format("rbf_type is {}; known are 'expnorm' and 'gauss'", quoted(radial)));
  read.radial = radial == "gauss" ? Config::Radial::gaussian : Config::Radial::exponential;
  read_activation(config, read);
  read_charges(config, read);
  read_reduction(config, read);
  read_box(config, read);
  if (config.integer_or("atom_filter", -1) > -1)
    config.fail("atom_filter leaves out atoms; only -1 is supported");
  read.cutoff_lower = read_length(config, "cutoff_lower", 0);
  read.cutoff_upper = read_length(config, "cutoff_upper", 5);
  // The key was dropped in the same release in which the rows changed.
  read.rows_by_channel = config.has("check_errors");
  read.self_edges = true;
  read.has_head_activation = true;
  read.n_types = config.count("max_z", 1024);
  read.priors = read_priors(config);
  for (std::int32_t z = 1; z <= structure::kMaxAtomicNumber && z < read.n_types; ++z)
    if (knows_type(read.priors, z)) read.type_of[static_cast<std::size_t>(z)] = z;
  if (read.elements().empty()) config.fail("leaves no element that the model and its priors know");
}

void read_elements(const ModelConfig& config, Config& read) {
  const std::vector<std::string> symbols = config.texts("element_types");
  for (const std::string& symbol : symbols) {
    const int z = structure::atomic_number_of(symbol);
    if (z == 0)
      config.fail(fmt::format("element_types has {}, which is no element", quoted(symbol)));
    std::int32_t& type = read.type_of[static_cast<std::size_t>(z)];
    if (type >= 0) config.fail(fmt::format("element_types has {} twice", quoted(symbol)));
    type = static_cast<std::int32_t>(read.n_types++);
  }
  read.references.assign(symbols.size(), 0);
  if (config.has("element_refs")) read.references = config.numbers("element_refs");
  if (read.n_types == 0) config.fail("element_types is empty");
  if (read.references.size() != symbols.size())
    config.fail(fmt::format("element_refs has {} numbers for {} element_types",
                            read.references.size(), symbols.size()));
}

void read_backend(const ModelConfig& config, Config& read) {
  if (!config.has("backend")) return;
  const std::string backend = config.text_or("backend", "");
  if (backend != "PYG" && backend != "DGL")
    config.fail(fmt::format("backend is {}; known are 'PYG' and 'DGL'", quoted(backend)));
  read.backend = backend == "DGL" ? Config::Backend::dgl : Config::Backend::pyg;
}

void read_matgl(const ModelConfig& config, Config& read) {
  read.width = config.count("units", 4096);
  read.n_layers = config.count("nblocks", 64);
  config.require("activation_type", std::string("swish"));
  config.require("is_intensive", false);
  config.require("include_state", false);
  config.require("task_type", std::string("regression"));
  if (config.count_or("ntargets", 1) != 1) config.fail("ntargets is not 1");
  read.cutoff_upper = read_length(config, "cutoff", 5);
  const std::string radial = config.text_or("rbf_type", "SphericalBessel");
  if (radial == "SphericalBessel") {
    config.require("use_smooth", true);
    read.radial = Config::Radial::bessel;
    read.n_radial = config.count_or("max_n", 3, 64);
  } else if (radial == "Gaussian") {
    read.radial = Config::Radial::gaussian;
    read.n_radial = config.count_or("num_rbf", 32, 4096);
    read.gaussian_width = config.number_or("width", 0.5);
    if (!(read.gaussian_width > 0 && std::isfinite(read.gaussian_width)))
      config.fail(fmt::format("width is {}; expected one above 0", read.gaussian_width));
  } else {
    config.fail(
        fmt::format("rbf_type is {}; known are 'SphericalBessel' and 'Gaussian'", quoted(radial)));
  }
  const std::int64_t version = config.count("model_version", 2);
  read.neighbour_first = version == 1;
  read.opposite_vectors = version == 2;
  read_backend(config, read);
  read.rows_by_channel = true;
  read.gated = true;
  read_elements(config, read);
  read.mean = config.number_or("data_mean", 0);
  read.std = config.number_or("data_std", 1);
}

}  // namespace

std::vector<std::int32_t> Config::elements() const {
  std::vector<std::int32_t> known;
  for (std::size_t z = 1; z < type_of.size(); ++z)
    if (type_of[z] >= 0) known.push_back(static_cast<std::int32_t>(z));
  return known;
}

bool Config::has_prior(Prior::Kind kind) const {
  return std::any_of(priors.begin(), priors.end(),
                     [&](const Prior& prior) { return prior.kind == kind; });
}

Config read_config(const ModelConfig& config) {
  Config read;
  read.type_of.fill(-1);
  const std::string dialect = config.text_or("dialect", "torchmdnet");
  read_group(config, read);
  read_units(config, read);
  if (dialect == "torchmdnet") {
    read_torchmdnet(config, read);
  } else if (dialect == "matgl" && config.text_or("model_type", "tensornet") == "tensornet") {
    read.dialect = Config::Dialect::matgl;
    read_matgl(config, read);
  } else {
    config.fail(fmt::format("dialect is {}; known are 'torchmdnet' and 'matgl'", quoted(dialect)));
  }
  if (!(read.cutoff_upper > read.cutoff_lower))
    config.fail(fmt::format("the cutoff is {}; expected one above {}", read.cutoff_upper,
                            read.cutoff_lower));
  return read;
}

}  // namespace biogpu::models::tensornet
