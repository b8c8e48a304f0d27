#include "lib/models/dualbind/dualbind.hpp"

#include <fmt/format.h>

#include <memory>

#include "lib/core/error.hpp"
#include "lib/models/dualbind/network.hpp"
#include "lib/tensor/weights/safetensors.hpp"

namespace biogpu::models {
namespace {

using dualbind::Complex;
using dualbind::HostBatch;
using tensor::DType;
using tensor::Tensor;

// A complex of usual size, to measure passes.
Complex usual_complex() {
  constexpr std::int32_t kAtoms = 60;
  constexpr std::size_t kPocketAtoms = 450;
  Complex complex;
  for (std::int32_t a = 0; a < kAtoms; ++a) {
    complex.ligand_tokens.push_back(a);
    complex.ligand.bond_atoms.insert(complex.ligand.bond_atoms.end(), {a, (a + 1) % kAtoms});
  }
  complex.ligand.positions.resize(3 * kAtoms);
  complex.ligand.atom_features.resize(kAtoms * molecule::MoleculeGraph::kAtomFeatures);
  complex.ligand.bond_features.resize(kAtoms * molecule::MoleculeGraph::kBondFeatures);
  complex.pocket.positions.resize(3 * kPocketAtoms);
  complex.pocket.kinds.resize(kPocketAtoms);
  return complex;
}

}  // namespace

DualBind::DualBind(const std::string& folder, const ModelConfig& config, tensor::Context& context,
                   const LoadOptions& options)
    : Model(context), config_(dualbind::read_config(config, context)) {
  load_member(folder, config, options);
  for (const std::string& further : options.ensemble)
    load_member(further, ModelConfig(further), options);
}

void DualBind::load_member(const std::string& folder, const ModelConfig& config,
                           const LoadOptions& options) {
  config.require("model_type", std::string("dualbind"));
  const dualbind::Config own = dualbind::read_config(config, context_);
  if (own.pocket_size != config_.pocket_size || own.cutoff != config_.cutoff)
    config.fail("pocket_size or cutoff is another one than that of the first model");
  if (own.width != config_.width || own.n_heads != config_.n_heads || own.d_ffn != config_.d_ffn ||
      own.n_message_steps != config_.n_message_steps)
    config.fail("the shape is another one than that of the first model");
  const tensor::Checkpoint checkpoint = tensor::Checkpoint::open(folder);
  tensor::WeightTable table(checkpoint, options.maps);
  members_.push_back(dualbind::read_weights(config_, table, context_));
  table.finish();
  n_parameters_ = table.n_taken();
}

std::string DualBind::describe() const {
  return fmt::format(
      "architecture\tDualBind\nwidth\t{}\nmessage_steps\t{}\nheads\t{}\nparameters\t{}\n"
      "cutoff\t{} A\npocket_size\t{} residues\nenergy_unit\tkcal/mol\nlicence\t{}\n",
      config_.width, config_.n_message_steps, config_.n_heads, n_parameters_, config_.cutoff,
      config_.pocket_size, kDualBindLicence);
}

void DualBind::forward(Pass& pass, HostBatch& host, bool has_stages) const {
  const dualbind::DeviceBatch batch = host.upload(pass);
  const auto n_members = static_cast<std::int64_t>(members_.size());
  const Tensor energies = pass.output("energies", {n_members, batch.n_complexes}, DType::f64);
  const Tensor eigenvalues = pass.output("eigenvalues", {batch.n_complexes, 3});
  Tensor atoms, tokens;
  if (has_stages) {
    atoms = pass.output("atoms", {batch.n_atoms, config_.width});
    tokens = pass.output("tokens", {batch.n_tokens, config_.width});
  }
  pass.run([&] {
    tensor::Arena& arena = pass.arena();
    const auto scope = arena.scope();
    const dualbind::Axes axes{arena.take(DType::f32, {batch.n_complexes, 3}),
                              arena.take(DType::f32, {batch.n_complexes, 3, 3})};
    dualbind::find_axes(pass, batch, axes, eigenvalues);
    for (std::int64_t member = 0; member < n_members; ++member) {
      Tensor row = energies.slice(0, member, member + 1);
      row.rank = 1;
      row.shape[0] = batch.n_complexes;
      row.stride[0] = 1;
      dualbind::NetworkOutputs outputs{row, {}, {}};
      if (member == 0) {
        outputs.atoms = atoms;
        outputs.tokens = tokens;
      }
      dualbind::run_network(pass, config_, members_[static_cast<std::size_t>(member)], batch, axes,
                            outputs);
    }
  });
}

std::vector<DualBind::Result> DualBind::compute(std::span<const Complex> complexes) {
  if (complexes.empty()) return {};
  HostBatch host(complexes);
  const Outputs outputs = run_pass([&](Pass& pass) { forward(pass, host); });
  const std::vector<double>& energies = outputs.at("energies").doubles;
  const io::SharedArray& eigenvalues = outputs.at("eigenvalues").values;
  std::vector<Result> results(complexes.size());
  for (std::size_t c = 0; c < results.size(); ++c) {
    for (std::size_t member = 0; member < members_.size(); ++member)
      results[c].energies.push_back(energies[member * results.size() + c]);
    for (std::size_t i = 0; i < 3; ++i)
      results[c].eigenvalues[i] = static_cast<double>(eigenvalues.data()[3 * c + i]);
  }
  return results;
}

DualBind::Stages DualBind::compute_stages(std::span<const Complex> complexes) {
  HostBatch host(complexes);
  const Outputs outputs = run_pass([&](Pass& pass) { forward(pass, host, true); });
  const io::SharedArray &atoms = outputs.at("atoms").values, &tokens = outputs.at("tokens").values;
  return {{atoms.begin(), atoms.end()}, {tokens.begin(), tokens.end()}};
}

std::size_t DualBind::measure(std::uint64_t n_complexes) const {
  const std::vector<Complex> complexes(n_complexes, usual_complex());
  HostBatch host(complexes);
  return measure_pass([&](Pass& pass) { forward(pass, host); });
}

ModelDef dualbind_model() {
  return {"dualbind",
          "DualBind",
          Reads::complexes,
          {"affinity"},
          [](const std::string& folder, const ModelConfig& config, tensor::Context& context,
             const LoadOptions& options) -> std::unique_ptr<Model> {
            return std::make_unique<DualBind>(folder, config, context, options);
          },
          tensor::Precision::fp32};
}

}  // namespace biogpu::models
