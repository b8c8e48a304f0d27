#include "lib/models/tensornet/tensornet.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/models/tensornet/host_edges.hpp"
#include "lib/models/tensornet/network.hpp"
#include "lib/models/tensornet/order/atom_order.hpp"
#include "lib/models/tensornet/pair_terms/pair_terms.hpp"
#include "lib/models/tensornet/system_rules.hpp"
#include "lib/tensor/weights/safetensors.hpp"

namespace biogpu::models {
namespace {

using tensor::DType;
using tensor::Tensor;
using tensornet::Batch;
using tensornet::DeviceEdges;
using tensornet::Graph;
using tensornet::HostEdges;
using tensornet::kEnergyColumns;
using tensornet::ListPlan;

// Numbers on the host as the pass uploads them.
Tensor upload_real(Pass& pass, DType real, const std::vector<double>& values,
                   std::initializer_list<std::int64_t> shape) {
  if (real == DType::f64) return pass.upload(DType::f64, shape, values.data());
  const std::vector<float> floats(values.begin(), values.end());
  return pass.upload(DType::f32, shape, floats.data());
}

// Output number i of a pass, whichever its type.
double number_of(const Outputs::Array& array, std::size_t i) {
  return array.doubles.empty() ? static_cast<double>(array.values.data()[i]) : array.doubles[i];
}

// An output and what the Coulomb energy adds to it, number by number. Looked up once: there are as
// many numbers as atoms.
class SummedOutput {
 public:
  SummedOutput(const Outputs& outputs, const std::string& name)
      : near_(outputs.find(name)), far_(outputs.find(name + ".far")) {}
  double operator[](std::size_t i) const {
    return number_of(*near_, i) + (far_ == nullptr ? 0 : number_of(*far_, i));
  }

 private:
  const Outputs::Array* const near_;  // null where it was not asked for
  const Outputs::Array* const far_;
};

// Pairs of charges within the cutoff, or all of a system where there is none.
void add_far_pairs(const AtomSystem& system, double cutoff, Graph& graph) {
  AtomSystem whole = system;
  if (cutoff == 0) {
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (std::size_t k = 0; k < system.positions.size(); ++k) {
      low[k % 3] = std::min(low[k % 3], system.positions[k]);
      high[k % 3] = std::max(high[k % 3], system.positions[k]);
    }
    cutoff = 1 + std::hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
    whole.pairs = nullptr;
  }
  tensornet::add_system(whole, {0, cutoff, false}, graph);
}

tensornet::EdgeRule edge_rule(const tensornet::Config& config) {
  return {config.cutoff_lower, config.cutoff_upper, config.self_edges};
}

// Factors that are all 1 change nothing.
void drop_ones(std::vector<double>& factors) {
  if (std::all_of(factors.begin(), factors.end(), [](double x) { return x == 1; })) factors.clear();
}

}  // namespace

// Some systems of a call.
struct TensorNet::HostBatch {
  HostEdges edges;
  DeviceEdges listed;  // instead, where there is a capacity
  std::int64_t capacity = 0;
  std::vector<std::int32_t> types;  // [T]
  std::vector<double> factors;      // [T], or empty: 1
  std::vector<double> totals;       // [T]: the charge of each atom's system
  HostEdges far;                    // pairs of charges, where they have an energy
  const std::vector<std::int32_t>& atom_starts() const {
    return capacity > 0 ? listed.atom_starts() : edges.graph().atom_starts;
  }
  std::size_t n_systems() const { return atom_starts().size() - 1; }
};

TensorNet::TensorNet(const std::string& folder, const ModelConfig& config, tensor::Context& context,
                     const LoadOptions& options)
    : PotentialModel(context), config_(tensornet::read_config(config)) {
  if (context.kind() == tensor::Context::Kind::gpu) {
    if (context.precision() != tensor::Precision::fp32)
      throw Error(ErrorCode::usage, "TensorNet computes in fp32 on a GPU: use --precision fp32");
  }
  const std::optional<bool> atom_references = options.values.on_off(kAtomReferences);
  if (atom_references && (config_.gated || !config_.has_prior(tensornet::Prior::Kind::atomref)))
    throw Error(ErrorCode::usage,
                "the checkpoint has no energies of free atoms that can be added or left out");
  const tensor::Checkpoint checkpoint = tensor::Checkpoint::open(folder);
  tensor::WeightTable table(checkpoint, options.maps);
  const tensornet::HostWeights host = tensornet::read_weights(config_, atom_references, table);
  tensornet::set_backend(config_, table, checkpoint.files().front());
  table.finish();
  tensornet::limit_elements(config_, host, checkpoint.files().front());
  tensornet::check_weights(host, checkpoint.files().front());
  info_.architecture = config_.n_charges > 0 ? "TensorNet2" : "TensorNet";
  info_.dialect = config_.dialect == tensornet::Config::Dialect::matgl ? "matgl" : "torchmd-net";
  info_.energy_unit = config_.energy_unit;
  info_.ev_per_energy = config_.ev_per_energy;
  info_.energy_offset = host.mean;
  info_.cutoff = std::max(config_.cutoff_upper, config_.coulomb_cutoff);
  info_.allows_box = !config_.has_coulomb || config_.coulomb_cutoff > 0;
  info_.uses_charge = config_.uses_charge || config_.n_charges > 0;
  info_.needs_charge = config_.n_charges > 0;
  info_.needs_partial_charges = config_.has_prior(tensornet::Prior::Kind::coulomb);
  info_.images =
      config_.dialect == tensornet::Config::Dialect::matgl ? Images::all : Images::nearest;
  info_.default_box = config_.box;
  info_.elements = config_.elements();
  info_.n_parameters = table.n_taken();
  std_ = host.std;
  references_ = host.references;
  pair_terms_ = tensornet::make_pair_terms(config_, host);
  // TensorNet2's products of matrices have a row an edge, and how they sum may depend on the number
  // of rows: that must not be a capacity, which depends on earlier calls.
  lists_on_device_ = context.kind() == tensor::Context::Kind::gpu && config_.n_charges == 0 &&
                     !config_.has_coulomb;
  info_.finds_pairs = lists_on_device_;
  for (const auto& term : pair_terms_)
    if (!term->has_all_pairs()) {
      info_.cutoff = std::max(info_.cutoff, term->range().upper);
      info_.finds_pairs = false;  // the host needs them for the term
    }
  if (options.maps == tensor::WeightTable::Maps::read)
    weights_ = tensornet::upload_weights(config_, host, context);
}

std::string TensorNet::describe() const {
  std::string text;
  const auto line = [&](const std::string& key, const auto& value) {
    text += fmt::format("{}\t{}\n", key, value);
  };
  std::vector<std::string> symbols;
  for (const std::int32_t z : info_.elements) symbols.push_back(structure::element_name(z));
  line("architecture", info_.architecture);
  line("dialect", info_.dialect);
  line("layers", config_.n_layers);
  line("width", config_.width);
  line("radial_functions", config_.n_radial);
  line("group", config_.one_sided ? "SO(3)" : "O(3)");
  line("parameters", info_.n_parameters);
  line("cutoff", fmt::format("{} A", info_.cutoff));
  line("images", info_.images == Images::all ? "all within the cutoff" : "the nearest one");
  if (config_.sums_own_features) line("messages", "an atom's own features (DGL)");
  if (config_.n_charges > 0) line("charges", config_.n_charges);
  if (config_.has_coulomb)
    line("coulomb", config_.coulomb_cutoff > 0
                        ? fmt::format("reaction field within {} A", config_.coulomb_cutoff)
                        : "all pairs");
  if (config_.has_repulsion) line("repulsion", "ZBL");
  if (config_.box) line("box", "of systems without one, for the network's edges");
  if (config_.takes_mean) line("energy", "the mean of atoms");
  for (const tensornet::Prior& prior : config_.priors)
    line("prior", prior.name + (prior.is_on ? "" : ", off"));
  line("energy_unit", info_.energy_unit);
  line("elements", fmt::format("{}", fmt::join(symbols, " ")));
  return text;
}

bool TensorNet::is_listed_on_device(const AtomSystem& system) const {
  return lists_on_device_ && system.pairs == nullptr &&
         tensornet::expected_neighbours(system, config_.cutoff_upper) <= limits_.neighbours;
}

void TensorNet::add_atoms(const AtomSystem& system, HostBatch& batch) const {
  const double charge = config_.uses_charge ? system.total_charge.value_or(0) : 0;
  for (const std::int32_t z : system.atomic_numbers) {
    batch.types.push_back(config_.type_of[static_cast<std::size_t>(z)]);
    batch.factors.push_back(1 + 0.1 * charge);
    batch.totals.push_back(system.total_charge.value_or(0));
  }
}

TensorNet::HostBatch TensorNet::make_batch(std::span<const AtomSystem> systems) const {
  HostBatch batch;
  Graph graph, far;
  for (const AtomSystem& system : systems) {
    if (graph.n_atoms() > 0 && (graph.n_edges() >= limits_.edges || is_listed_on_device(system)))
      break;
    tensornet::add_system(system, edge_rule(config_), graph);
    if (config_.has_coulomb) add_far_pairs(system, config_.coulomb_cutoff, far);
    add_atoms(system, batch);
  }
  drop_ones(batch.factors);
  batch.edges = HostEdges(std::move(graph), weights_.real);
  batch.far = HostEdges(std::move(far), weights_.real);
  return batch;
}

void TensorNet::forward(Pass& pass, const HostBatch& host, const Request& request) const {
  const std::int64_t n = host.atom_starts().back();
  const DType real = weights_.real;
  const bool lists = host.capacity > 0;
  Batch batch;
  DeviceEdges::Uploaded listed;
  if (lists) listed = host.listed.upload(pass, host.capacity);
  batch.edges = lists ? listed.edges : host.edges.upload(pass);
  batch.types = pass.upload(host.types);
  if (!host.factors.empty()) batch.factor = upload_real(pass, real, host.factors, {n});
  pass.depends_on(host.factors.empty());
  if (config_.n_charges > 0) {
    batch.total = upload_real(pass, real, host.totals, {n});
    batch.atom_starts = pass.upload(host.atom_starts());
  }
  if (config_.has_coulomb) batch.far = host.far.upload(pass);
  const Tensor energies = pass.output("energies", {n, kEnergyColumns}, real);
  tensornet::Gradients gradients;
  if (request.forces) gradients.positions = pass.output("gradient", {n, 3}, real);
  if (request.virial) gradients.virial = pass.output("virial", {n, 9}, real);
  if (config_.has_coulomb && request.forces)
    gradients.far_positions = pass.output("gradient.far", {n, 3}, real);
  if (config_.has_coulomb && request.virial)
    gradients.far_virial = pass.output("virial.far", {n, 9}, real);
  const bool backward = request.forces || request.virial;
  if (backward) {
    std::vector<double> ones(static_cast<std::size_t>(n * kEnergyColumns));
    for (std::size_t i = 0; i < ones.size(); i += kEnergyColumns) ones[i] = 1;
    gradients.ones = upload_real(pass, real, ones, {n, kEnergyColumns});
  }
  pass.run([&] {
    const auto scope = pass.arena().scope();
    if (lists) host.listed.list(pass, listed);
    tensornet::Network network(config_, weights_, pass.context(), pass.arena(), batch);
    network.forward(energies);
    if (backward) network.backward(gradients);
  });
}

void TensorNet::collect(const Outputs& outputs, const HostBatch& batch, const Request& request,
                        std::vector<PotentialResult>& results) const {
  const Outputs::Array& energies = outputs.at("energies");
  const SummedOutput gradient(outputs, "gradient"), virial(outputs, "virial");
  for (std::size_t s = 0; s < batch.n_systems(); ++s) {
    PotentialResult result;
    result.energy = info_.energy_offset;
    const auto begin = static_cast<std::size_t>(batch.atom_starts()[s]),
               end = static_cast<std::size_t>(batch.atom_starts()[s + 1]);
    for (std::size_t i = begin; i < end; ++i) {
      double energy = std_ * number_of(energies, i * kEnergyColumns);
      if (!references_.empty()) energy += references_[static_cast<std::size_t>(batch.types[i])];
      result.energy += energy;
      if (request.atom_energies) result.atom_energies.push_back(energy);
      for (std::size_t k = 0; request.forces && k < 3; ++k)
        result.forces.push_back(-std_ * gradient[3 * i + k]);
      for (std::size_t k = 0; request.virial && k < 9; ++k)
        result.virial[k] += std_ * virial[9 * i + k];
    }
    results.push_back(std::move(result));
  }
}

void TensorNet::add_pair_terms(const AtomSystem& system, const Request& request,
                               PotentialResult& result) const {
  std::vector<std::int32_t> types;
  for (const std::int32_t z : system.atomic_numbers)
    types.push_back(config_.type_of[static_cast<std::size_t>(z)]);
  auto term = pair_terms_.begin();
  const auto add = [&] { tensornet::add_pair_term(**term++, system, types, request, result); };
  if (config_.has_repulsion) add();
  if (config_.takes_mean) tensornet::take_mean(system.n_atoms(), info_.energy_offset, result);
  while (term != pair_terms_.end()) add();
}

ListPlan TensorNet::make_plan(const DeviceEdges& all) {
  ++n_passes_.counting;
  const Outputs outputs = run_pass([&](Pass& pass) {
    const DeviceEdges::Uploaded counted = all.upload(pass, 0);
    pass.run([&] { all.list(pass, counted); });
  });
  DeviceEdges::count(outputs);
  return {all.atom_starts(), DeviceEdges::starts(outputs), limits_.edges};
}

void TensorNet::compute_on_host_edges(std::span<const AtomSystem> systems, const Request& request,
                                      std::vector<PotentialResult>& results) {
  ++n_passes_.on_host_edges;
  const HostBatch batch = make_batch(systems);
  const auto run = [&](Pass& pass) { forward(pass, batch, request); };
  require_memory(run);
  const Outputs outputs = run_pass(run);
  collect(outputs, batch, request, results);
}

void TensorNet::compute_on_device_edges(std::span<const AtomSystem> systems, const Request& request,
                                        std::vector<PotentialResult>& results) {
  std::size_t n = 0, n_atoms = 0;
  for (; n < systems.size() && is_listed_on_device(systems[n]); ++n) {
    if (n > 0 && n_atoms + systems[n].n_atoms() > limits_.counted_atoms) break;
    n_atoms += systems[n].n_atoms();
  }
  DeviceEdges all(systems.first(n), edge_rule(config_));
  if (plan_.atom_starts != all.atom_starts()) plan_ = make_plan(all);
  std::int64_t n_edges = 0;
  for (ListPlan::Part& part : plan_.parts) {
    const std::span<const AtomSystem> some = systems.first(part.n_systems);
    systems = systems.subspan(part.n_systems);
    HostBatch batch;
    for (const AtomSystem& system : some) add_atoms(system, batch);
    drop_ones(batch.factors);
    batch.listed = plan_.parts.size() == 1 ? std::move(all) : DeviceEdges(some, edge_rule(config_));
    for (bool is_done = false; !is_done;) {
      ++n_passes_.on_device_edges;
      batch.capacity = part.capacity;
      const Outputs outputs = run_pass([&](Pass& pass) { forward(pass, batch, request); });
      const std::int64_t count = DeviceEdges::count(outputs), needed = ops::edge_capacity(count);
      // Results are void where atoms have come so close that there was too little room.
      is_done = count <= batch.capacity;
      if (is_done) collect(outputs, batch, request, results);
      if (part.n_systems > 1 && count > limits_.edges) {
        plan_ = {};  // of sparser systems: those that are left are planned again
        return;
      }
      // A capacity shrinks for the next call once half of it is enough.
      if (needed > part.capacity || 2 * needed <= part.capacity) part.capacity = needed;
      if (is_done) n_edges += count;
    }
  }
  if (plan_.is_too_fine(n_edges, limits_.edges)) plan_ = {};
}

std::vector<PotentialResult> TensorNet::compute(std::span<const AtomSystem> systems,
                                                const Request& request) {
  const std::vector<AtomSystem> boxed = tensornet::with_box(systems, config_.box);
  const tensornet::AtomOrder order(config_.box ? boxed : systems, edge_rule(config_));
  std::vector<PotentialResult> results;
  while (results.size() < systems.size()) {
    const std::size_t n_done = results.size();
    const std::span<const AtomSystem> rest = order.systems().subspan(n_done);
    if (is_listed_on_device(rest.front()))
      compute_on_device_edges(rest, request, results);
    else
      compute_on_host_edges(rest, request, results);
    for (std::size_t s = n_done; s < results.size(); ++s) {
      order.restore(s, results[s]);
      add_pair_terms(systems[s], request, results[s]);
    }
  }
  return results;
}

namespace {

ModelDef definition(const char* type, const char* name) {
  return {type,
          name,
          Reads::atoms,
          {"energy", "relax", "md"},
          [](const std::string& folder, const ModelConfig& config, tensor::Context& context,
             const LoadOptions& options) -> std::unique_ptr<Model> {
            return std::make_unique<TensorNet>(folder, config, context, options);
          },
          tensor::Precision::fp32,  // 16 bits are too few for forces
          {{.name = kAtomReferences,
            .kind = ModelOption::Kind::on_off,
            .help = "add the energies of free atoms that a torchmd-net checkpoint has, or leave "
                    "them out [as the checkpoint says]"}}};
}

}  // namespace

ModelDef tensornet_model() { return definition("tensornet", "TensorNet"); }
ModelDef tensornet2_model() { return definition("tensornet2", "TensorNet2"); }

}  // namespace biogpu::models
