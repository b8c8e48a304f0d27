// `biogpu infer affinity`: binding affinities of ligands that lie in a protein.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/infer/commands.hpp"
#include "apps/biogpu/infer/complexes/complex_input.hpp"
#include "apps/biogpu/infer/run/item_run.hpp"
#include "lib/core/error.hpp"
#include "lib/io/output_file.hpp"
#include "lib/models/dualbind/dualbind.hpp"
#include "lib/report/counted.hpp"
#include "lib/tasks/complex/affinity.hpp"

namespace biogpu::app {
namespace {

using models::DualBind;
using models::dualbind::Complex;

// Complexes of a pass: more do not make it faster.
constexpr std::uint64_t kCpuComplexes = 4;
constexpr std::uint64_t kGpuComplexes = 128;

struct AffinityFlags {
  InferFlags infer;
  std::string protein, pairs;
  std::vector<std::string> ensemble;
};

void check_inputs(const AffinityFlags& flags) {
  if (flags.pairs.empty()) {
    if (flags.infer.inputs.empty() || flags.protein.empty())
      throw Error(ErrorCode::usage, "expected --protein and files of ligands, or --pairs");
  } else if (!flags.infer.inputs.empty() || !flags.protein.empty()) {
    throw Error(ErrorCode::usage, "--pairs names the proteins and ligands; expected no others");
  }
}

// What results depend on besides the inputs: for --resume, and so that no output takes its place.
void add_files(AffinityFlags& flags, const std::vector<ComplexPair>& pairs) {
  std::vector<io::NamedFile>& files = flags.infer.also_read;
  if (!flags.protein.empty()) files.push_back({"--protein", flags.protein});
  std::set<std::string> paths;
  for (const ComplexPair& pair : pairs) paths.insert({pair.protein, pair.ligand});
  for (const std::string& path : paths) files.push_back({"--pairs", path});
  for (const std::string& folder : flags.ensemble) {
    std::error_code none;
    for (const auto& file : std::filesystem::directory_iterator(folder, none))
      files.push_back({"--ensemble", file.path().string()});
  }
}

// A molecule is some 3 KB of a file, and each weight is multiplied once a token and frame.
ItemKind complex_items(const AffinityFlags& flags, std::size_t n_pairs) {
  constexpr double kBytesOfMolecule = 3e3, kTokens = 8 * 430;
  ItemKind kind;
  kind.words = {"complexes", "atoms", false};
  kind.n_products = kTokens * std::max({1.0, static_cast<double>(n_pairs),
                                        file_bytes(flags.infer.inputs) / kBytesOfMolecule});
  kind.cpu_batch = kCpuComplexes;
  kind.gpu_batch = kGpuComplexes;
  return kind;
}

// Complexes of a batch with the records that they come from.
struct PreparedBatch {
  std::vector<Complex> complexes;
  std::vector<tasks::AffinityNames> names;
  std::vector<std::string> places;
};

// Calls make(); its errors begin with the place, where there is one.
template <class Make>
auto with_place(const std::string& place, const Make& make) {
  try {
    return make();
  } catch (const Error& error) {
    if (place.empty()) throw;
    throw Error(error.code(), fmt::format("{}: {}", place, error.what()));
  }
}

Complex prepare(const ComplexRecord& record, tasks::ProteinCache& proteins,
                std::size_t pocket_size) {
  return with_place(record.table_place, [&] {
    const auto protein = proteins.get(record.protein);
    molecule::MoleculeGraph ligand = molecule::make_molecule_graph(record.text);
    return with_place(record.text.place, [&] {
      return models::dualbind::make_complex(std::move(ligand), *protein, pocket_size);
    });
  });
}

class AffinityRun {
 public:
  AffinityRun(AffinityFlags flags, const std::string& command_line);
  void run();

 private:
  std::unique_ptr<ItemSource<ComplexRecord>> open(const InferFlags& infer);
  PreparedBatch prepare_batch(std::vector<ComplexRecord>& records, pipeline::RecordOutputs& result);
  void compute(std::vector<ComplexRecord>& records, pipeline::RecordOutputs& result);

  AffinityFlags flags_;
  std::vector<ComplexPair> pairs_;
  tasks::ProteinCache proteins_;
  std::unique_ptr<ItemRun<DualBind, ComplexRecord>> run_;
  std::uint64_t n_far_ = 0;  // complexes without a pair of atoms within the cutoff
};

AffinityRun::AffinityRun(AffinityFlags flags, const std::string& command_line)
    : flags_(std::move(flags)) {
  check_inputs(flags_);
  molecule::require_molecule_graphs("infer affinity");
  if (!flags_.pairs.empty()) pairs_ = read_pairs(flags_.pairs);
  add_files(flags_, pairs_);
  const std::size_t n_pairs = pairs_.size();
  InferFlags infer = flags_.infer;
  if (!flags_.pairs.empty()) infer.inputs = {flags_.pairs};
  models::LoadOptions options;
  options.ensemble = flags_.ensemble;
  run_ = std::make_unique<ItemRun<DualBind, ComplexRecord>>(
      std::move(infer), "infer affinity", command_line, complex_items(flags_, n_pairs),
      [this](const InferFlags& resolved) { return open(resolved); },
      ItemInput<ComplexRecord>::Cost(), std::move(options));
}

std::unique_ptr<ItemSource<ComplexRecord>> AffinityRun::open(const InferFlags& infer) {
  if (!flags_.pairs.empty())
    return std::make_unique<ComplexPairSource>(flags_.pairs, std::move(pairs_), infer.shard,
                                               infer.bad_records());
  return std::make_unique<LigandSource>(flags_.protein, infer.inputs, infer.shard);
}

// Any thread: the chemistry of a batch.
PreparedBatch AffinityRun::prepare_batch(std::vector<ComplexRecord>& records,
                                         pipeline::RecordOutputs& result) {
  const auto pocket_size = static_cast<std::size_t>(run_->model().config().pocket_size);
  PreparedBatch batch;
  for (ComplexRecord& record : records) {
    try {
      batch.complexes.push_back(prepare(record, proteins_, pocket_size));
    } catch (const Error& error) {
      if (!flags_.infer.skip_bad || error.code() != ErrorCode::bad_input) throw;
      result.warnings.push_back(std::string("skipped: ") + error.what());
      continue;
    }
    const std::string& title = batch.complexes.back().ligand.name;
    batch.names.push_back({std::move(record.protein),
                           record.has_title && !title.empty() ? title : std::move(record.ligand),
                           std::move(record.warning)});
    batch.places.push_back(std::move(record.text.place));
  }
  return batch;
}

void AffinityRun::compute(std::vector<ComplexRecord>& records, pipeline::RecordOutputs& result) {
  const PreparedBatch batch = prepare_batch(records, result);
  result.n_residues = 0;
  if (batch.complexes.empty()) return;
  std::vector<DualBind::Result> computed;
  run_->use_model([&](DualBind& model) {
    computed = tasks::compute_affinities(model, batch.complexes,
                                         [&](std::size_t i) { return batch.places[i]; });
  });
  for (std::size_t i = 0; i < computed.size(); ++i) {
    result.n_residues += batch.complexes[i].n_tokens();
    tasks::append_affinity_line(result.text, batch.names[i], batch.complexes[i], computed[i],
                                batch.places[i]);
  }
}

void AffinityRun::run() {
  run_->log().info(models::kDualBindLicence);
  run_->limit_memory([&](std::uint64_t n) { return run_->model().measure(n); });
  const bool is_ensemble = !flags_.ensemble.empty();
  io::OutputFile out(run_->flags().output, run_->flags().shared.threads);
  out.write(tasks::affinity_header(is_ensemble));
  // Chemistry runs on as many threads as are allowed while one of them has the model.
  const int n_workers =
      std::max(2, run_->flags().shared.threads / std::max(1, run_->devices().size()));
  run_->run([&](std::vector<ComplexRecord>& records,
                pipeline::RecordOutputs& result) { compute(records, result); },
            [&](const pipeline::RecordOutputs& result) {
              out.write(result.text);
              // A line for each complex but those that were left out, also of what --resume had.
              const auto n_lines = std::count(result.text.begin(), result.text.end(), '\n');
              run_->add_skipped(result.n_records - static_cast<std::uint64_t>(n_lines));
              n_far_ += tasks::count_far(result.text);
            },
            n_workers);
  if (n_far_ > 0) {
    const std::string n = report::counted(n_far_, "complexes");
    run_->log().warn(
        fmt::format("{} with the affinity 0: no atom of the ligand is near the protein "
                    "(no_near_pair); coordinates of both must have one frame",
                    n));
  }
  nlohmann::ordered_json result = {{"model",
                                    {{"architecture", "DualBind"},
                                     {"checkpoints", run_->model().n_members()},
                                     {"precision", run_->devices().precision_name()}}},
                                   {"energy_unit", "kcal/mol"}};
  run_->add_counts(result);
  run_->finish(out.bytes(), std::move(result), [&] { out.commit(); });
}

}  // namespace

Run add_infer_affinity(CLI::App& command) {
  const auto flags = std::make_shared<AffinityFlags>();
  const OptionGroup options(command);
  options.option(
      "LIGANDS", flags->infer.inputs,
      "files of docked molecules: SDF, MOL or MOL2, plain or gzip; - is SDF on standard input",
      " ");
  add_model_flag(command, flags->infer);
  options.option("--protein", flags->protein,
                 "read the protein of all LIGANDS from this PDB or mmCIF file", "FILE");
  options.option("--pairs", flags->pairs,
                 "read the files of a protein and of a ligand from the two columns of this table "
                 "without header",
                 "TSV");
  options
      .option("--ensemble", flags->ensemble,
              "average with this further checkpoint of the same shape, and write the spread; "
              "repeat it for more",
              "FOLDER")
      ->allow_extra_args(false)
      ->take_all();
  add_table_output(command, flags->infer);
  add_model_options(command, models::Reads::complexes);
  add_precision_flag(command, flags->infer.precision);
  command.get_option("--precision")
      ->description("compute in fp32, tf32, fp16, bf16 or auto [auto: fp32]");
  add_resume_flag(command, flags->infer);
  add_skip_bad_flag(command, flags->infer, "ligands and proteins that are malformed");
  add_shared_flags(command, flags->infer.shared);
  command.get_option("--batch")->description(
      "compute at most N complexes in one pass [chosen for the device]");
  add_infer_shard_flag(command, flags->infer,
                       "compute part I of N of the complexes; 'biogpu gather' joins the tables");
  command.footer(
      std::string(
          "Columns: protein, ligand (its title, or its number), affinity_kcal_mol, with "
          "--ensemble\n"
          "affinity_sd, n_ligand_atoms, n_pocket_atoms, warning (. where there is none).\n\n"
          "Examples:\n"
          "  biogpu infer affinity --model dualbind --protein receptor.pdb docked.sdf.gz \\\n"
          "      -o affinities.tsv\n"
          "  biogpu infer affinity --model fold0 --ensemble fold1 --ensemble fold2 \\\n"
          "      --pairs complexes.tsv --skip-bad -o affinities.tsv\n\n") +
      kExitCodes);
  return [flags](const std::string& command_line) { AffinityRun(*flags, command_line).run(); };
}

}  // namespace biogpu::app
