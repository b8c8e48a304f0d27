// `biogpu infer md`: molecular dynamics.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/infer/commands.hpp"
#include "apps/biogpu/infer/molecules/molecule_run.hpp"
#include "apps/biogpu/infer/molecules/trajectory_input.hpp"
#include "apps/biogpu/infer/molecules/trajectory_totals.hpp"
#include "apps/biogpu/infer/molecules/two_texts.hpp"
#include "lib/core/error.hpp"
#include "lib/io/output_file.hpp"
#include "lib/tasks/molecule/dynamics.hpp"

namespace biogpu::app {
namespace {

struct MdFlags {
  MoleculeFlags molecules;
  tasks::DynamicsOptions options;
  TrajectoryPlan plan;
  std::string ensemble = "nve";
  std::string restart;  // a number, "last", or empty
  std::string table;

  bool has_temperature() const {
    return molecules.infer.command->get_option("--temperature")->count() > 0;
  }
};

constexpr char kMdHeader[] =
    "trajectory\tstep\ttime_fs\tpotential\tkinetic\ttotal\ttemperature_K\tunits\n";

// The trajectories of a run, one after the other, on the first device.
class MdRun {
 public:
  MdRun(const MdFlags& flags, const std::string& command_line)
      : flags_(flags),
        run_(
            with_standard_input(flags.molecules.infer), "infer md", command_line, items(flags),
            [this](const InferFlags& infer) {
              auto source =
                  std::make_unique<TrajectorySource>(infer.inputs, infer.shard, flags_.plan);
              source_ = source.get();
              return source;
            },
            [](const TrajectoryFrame& frame) { return frame.start.n_atoms(); }),
        rules_(run_.model().info(), flags.molecules.charge,
               [this](const std::string& what) { run_.log().warn(what); }),
        unit_(tasks::find_energy_unit(flags.molecules.units)),
        totals_(flags.plan.n_steps, !flags.options.langevin, unit_.name) {
    prepare_potential(run_.model(), flags.molecules, run_.device(), run_.flags(), run_.log());
    run_.limit_batch(1);  // each frame by itself
    source_->set_rules(rules_);
  }

  void run(io::OutputFile& out, io::OutputFile* table) {
    const auto compute = [&](std::vector<TrajectoryFrame>& frames,
                             pipeline::RecordOutputs& result) {
      const TrajectoryFrame& frame = frames.front();
      if (!dynamics_ || frame.trajectory != dynamics_->state().trajectory) begin(frame);
      with_place(frame.place, [&] { dynamics_->run(frame.step - dynamics_->state().step); });
      require_finite(frame);
      result.text = texts_of(frame);
    };
    const auto write = [&](const pipeline::RecordOutputs& result) {
      const auto [frames, lines] = split_texts(result.text);
      if (!run_.input().has_begun()) last_frame_ = frames;
      out.write(frames);
      if (table != nullptr) table->write(lines);
      totals_.add(frames, lines);
    };
    run_.run(compute, write);
    totals_.finish();
    if (totals_.n_trajectories() > 0) run_.log().info(totals_.text());
  }

  void finish(std::uint64_t output_bytes, const std::function<void()>& name_outputs) {
    nlohmann::ordered_json result = {{"model", describe_potential(run_.devices())},
                                     {"ensemble", flags_.ensemble},
                                     {"seed", flags_.options.seed},
                                     {"energy_unit", unit_.name},
                                     {"frames", run_.n_records()}};
    totals_.add_to(result);
    run_.finish(output_bytes, std::move(result), name_outputs);
  }

 private:
  static ItemKind items(const MdFlags& flags) {
    ItemKind kind =
        potential_items(flags.molecules.infer, false, static_cast<double>(flags.plan.n_steps));
    kind.max_gpus = 1;
    return kind;
  }

  // At the last frame of an interrupted run where it is of this trajectory, else at its start.
  void begin(const TrajectoryFrame& frame) {
    if (!flags_.options.langevin && flags_.has_temperature() && !frame.start.velocities.empty())
      throw Error(ErrorCode::usage, frame.place +
                                        ": has velocities, so --temperature has no effect; it is "
                                        "for frames without, or for --ensemble nvt");
    tasks::MoleculeBatch batch;
    batch.molecules.push_back(frame.start);
    batch.places.push_back(frame.place);
    tasks::DynamicsState state;
    state.trajectory = static_cast<std::uint32_t>(frame.trajectory);
    state.step = frame.first_step;
    if (!last_frame_.empty()) {
      molecule::Molecule last;
      const std::string place = resume_path(run_.flags());
      molecule::read_xyz_text(place, std::exchange(last_frame_, {}))->next(last);
      const FrameNumbers numbers = numbers_of(last, place);
      if (numbers.trajectory == frame.trajectory) {
        state.step = numbers.step;
        batch.molecules[0] = std::move(last);
      }
    }
    models::PotentialModel& model = run_.model();
    state.system = tasks::make_systems(model, batch).front();
    state.masses = std::move(batch.molecules[0].masses);
    state.fixed = std::move(batch.molecules[0].fixed);
    state.velocities = std::move(batch.molecules[0].velocities);
    if (state.velocities.empty())
      state.velocities =
          tasks::draw_velocities(state.system, flags_.options.temperature, flags_.options.seed,
                                 state.trajectory, state.masses, state.fixed);
    with_place(frame.place, [&] { dynamics_.emplace(model, std::move(state), flags_.options); });
  }

  template <class Act>
  static void with_place(const std::string& place, const Act& act) {
    try {
      act();
    } catch (const Error& error) {
      throw Error(error.code(), place + ": " + error.what());
    }
  }

  void require_finite(const TrajectoryFrame& frame) {
    const auto place = [&] { return fmt::format("{}: step {}", frame.place, frame.step); };
    run_.devices().require_finite(
        std::array{dynamics_->result().energy, dynamics_->kinetic_energy()}, place);
    run_.devices().require_finite(dynamics_->state().system.positions, place);
  }

  std::string texts_of(const TrajectoryFrame& frame) const {
    const tasks::DynamicsState& state = dynamics_->state();
    molecule::Molecule molecule = frame.start;
    molecule.positions = state.system.positions;
    molecule.velocities = state.velocities;
    const tasks::EnergyOptions options{true, false, unit_};
    molecule::FrameResults results = tasks::frame_results(
        state.system, dynamics_->result(), run_.model().info().ev_per_energy, options);
    const double kinetic = dynamics_->kinetic_energy() / unit_.ev;
    const double time = static_cast<double>(state.step) * flags_.options.time_step;
    const std::pair<const char*, std::string> pairs[] = {
        {"velocity_unit", "A/fs"},
        {"trajectory", std::to_string(frame.trajectory + 1)},
        {"step", std::to_string(state.step)},
        {"time_fs", fmt::format("{}", time)},
        {"kinetic_energy", fmt::format("{}", kinetic)},
        {"temperature_K", fmt::format("{}", dynamics_->temperature())}};
    results.pairs.insert(results.pairs.end(), std::begin(pairs), std::end(pairs));
    std::string text;
    molecule::append_extxyz(text, molecule, results);
    const std::string line = fmt::format(
        "{}\t{}\t{}\t{:.8f}\t{:.8f}\t{:.8f}\t{:.4f}\t{}\n", frame.trajectory + 1, state.step, time,
        *results.energy, kinetic, *results.energy + kinetic, dynamics_->temperature(), unit_.name);
    return join_texts(text, line);
  }

  const MdFlags& flags_;
  TrajectorySource* source_ = nullptr;  // of the run
  ItemRun<models::PotentialModel, TrajectoryFrame> run_;
  FrameRules rules_;
  const tasks::EnergyUnit& unit_;
  std::optional<tasks::Dynamics> dynamics_;
  std::string last_frame_;  // of what --resume had
  TrajectoryTotals totals_;
};

std::optional<std::uint64_t> parse_restart(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (text == "last") return kLastFrame;
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || number == 0)
    throw Error(
        ErrorCode::usage,
        fmt::format("--restart: '{}'; expected the number of a frame from 1, or last", text));
  return number;
}

// Refuses what is missing, and what would have no effect.
void check_ensemble(const MdFlags& flags) {
  const CLI::App& given = *flags.molecules.infer.command;
  const auto refuse = [](const char* text) { throw Error(ErrorCode::usage, text); };
  if (flags.options.langevin && !(flags.options.temperature > 0))
    refuse("--ensemble nvt needs --temperature");
  if (!flags.options.langevin && given.get_option("--friction")->count() > 0)
    refuse("--friction is for --ensemble nvt");
  if (!flags.options.langevin && flags.has_temperature() && flags.plan.restart)
    refuse("--temperature with --restart is for --ensemble nvt: the frame has velocities");
}

void run_md(MdFlags flags, const std::string& command_line) {
  InferFlags& infer = flags.molecules.infer;
  flags.options.langevin = flags.ensemble == "nvt";
  flags.plan.restart = parse_restart(flags.restart);
  check_ensemble(flags);
  if (!flags.table.empty()) infer.also_written.push_back({"--table", flags.table});
  MdRun run(flags, command_line);
  io::OutputFile out(infer.output, infer.shared.threads);
  std::optional<io::OutputFile> table;
  if (!flags.table.empty()) {
    table.emplace(flags.table, infer.shared.threads);
    table->write(kMdHeader);
  }
  run.run(out, table ? &*table : nullptr);
  out.finish();
  if (table) table->finish();
  run.finish(out.bytes(), [&] {
    out.commit();
    if (table) table->commit();
  });
}

void add_md_options(const OptionGroup& options, MdFlags& flags) {
  constexpr std::int64_t kMaxSteps = std::int64_t{1} << 40;
  options
      .option("-o,--output", flags.molecules.infer.output,
              "write the trajectory as extxyz to this file [-, standard output]", "FILE")
      ->check(output_name({"extxyz"}));
  options
      .option("--table", flags.table,
              "write the energies and temperature of each frame to this table", "TSV")
      ->check(table_name());
  options
      .option("--ensemble", flags.ensemble,
              "integrate by velocity Verlet (nve) or with a Langevin thermostat, BAOAB (nvt) [nve]",
              "NAME")
      ->transform(one_of({"nve", "nvt"}));
  options
      .option("--temperature", flags.options.temperature,
              "set the temperature of the bath, and of velocities that are drawn where the input "
              "has none, in K [0]",
              "T")
      ->transform(in_range(0.0, 1e6));
  options
      .option("--friction", flags.options.friction,
              "set the friction of the Langevin thermostat of --ensemble nvt, in 1/fs [0.01]", "G")
      ->transform(in_range(0.0, 1e3));
  options
      .option("--timestep", flags.options.time_step, "integrate in steps of this time, in fs [0.5]",
              "DT")
      ->transform(in_range(1e-6, 100.0));
  options.option("--steps", flags.plan.n_steps, "end with step number N [1000]", "N")
      ->transform(in_range(std::int64_t{0}, kMaxSteps));
  options.option("--every", flags.plan.interval, "write a frame every N steps [100]", "N")
      ->transform(in_range(std::int64_t{1}, kMaxSteps));
  options
      .option("--seed", flags.options.seed,
              "start the random numbers from this seed; the same seed gives the same results [1]",
              "N")
      ->transform(in_range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
  options
      .option("--skin", flags.options.skin,
              "list pairs up to this distance beyond the cutoff, in A; no effect where a GPU lists "
              "them in every step [0.5]",
              "X")
      ->transform(in_range(0.0, 10.0));
  options.option("--restart", flags.restart,
                 "go on from frame N of a trajectory, counted from 1, or from the last", "N|last");
}

}  // namespace

Run add_infer_md(CLI::App& command) {
  const auto flags = std::make_shared<MdFlags>();
  const OptionGroup options(command);
  add_md_options(options, *flags);
  add_molecule_flags(command, flags->molecules);
  remove_flags(command, {"--batch"});
  add_infer_shard_flag(command, flags->molecules.infer,
                       "simulate part I of N of the trajectories; 'cat' joins the outputs");
  command.get_option("--restart")->excludes(command.get_option("--shard"));
  command.footer(
      std::string(
          "Each frame of the input begins a trajectory. Frames have energy, forces, velocities,\n"
          "step, time and temperature (of 3 degrees of freedom an atom), with all digits: a run\n"
          "that goes on from any of them gives the same bytes as one that did not stop. Lengths\n"
          "are in Angstrom, times in fs, temperatures in K, energies in --units.\n"
          "Columns of --table: trajectory (from 1), step, time_fs, potential, kinetic, total,\n"
          "temperature_K, units.\n\n"
          "Examples:\n"
          "  biogpu infer md --model aceff --temperature 300 --steps 2000 ligand.sdf "
          "\\\n"
          "      -o run.extxyz --table run.tsv\n"
          "  biogpu infer md --model matpes-pbe --ensemble nvt --temperature 600 --timestep 2 \\\n"
          "      --steps 1000 crystal.extxyz -o run.extxyz\n"
          "  biogpu infer md --model matpes-pbe --ensemble nvt --temperature 600 --timestep 2 \\\n"
          "      --restart last --steps 2000 run.extxyz -o more.extxyz\n\n") +
      kExitCodes);
  return [flags](const std::string& command_line) { run_md(*flags, command_line); };
}

}  // namespace biogpu::app
