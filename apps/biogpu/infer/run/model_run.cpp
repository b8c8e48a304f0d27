#include "apps/biogpu/infer/run/model_run.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <utility>

#include "apps/biogpu/run/process_end.hpp"
#include "apps/biogpu/run/start_stages.hpp"
#include "apps/biogpu/terminal/progress.hpp"
#include "lib/core/error.hpp"
#include "lib/core/gpu_backend.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/pipeline/held_results.hpp"
#include "lib/report/counted.hpp"

namespace biogpu::app {
namespace {

// The path of a file that results depend on, with its size and time.
std::string file_state(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return path + "\n";
  return fmt::format("{} {} {}.{:09}\n", path, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

// Throws Error{usage} where a run cannot be gone on with.
void require_resumable(const InferFlags& flags) {
  if (io::is_standard_stream(flags.output))
    throw Error(ErrorCode::usage, "--resume needs an output file");
  std::vector<std::string> read = flags.inputs;
  for (const io::NamedFile& file : flags.also_read) read.push_back(file.path);
  if (std::count(read.begin(), read.end(), "-") > 0)
    throw Error(ErrorCode::usage,
                "--resume needs input files: what standard input had cannot be known again");
}

models::OptionValues checked_options(const InferFlags& flags) {
  models::OptionValues values = given_model_options(*flags.command);
  if (!values.empty())
    models::require_options(models::find_model(models::ModelConfig(flags.model)), flags.model,
                            values);
  return values;
}

}  // namespace

ModelRun::ModelRun(InferFlags flags, std::string name, std::string command_line)
    : flags_(std::move(flags)),
      name_(std::move(name)),
      command_line_(std::move(command_line)),
      model_options_(checked_options(flags_)),
      log_(name_, flags_.shared.quiet, flags_.shared.verbose) {
  require_own_outputs(flags_, flags_.inputs);
  flags_.shared.resolve();
  summary_ = SummaryFile(flags_.shared);
  if (flags_.resume) require_resumable(flags_);
}

void ModelRun::open_devices(const AutoDecision& decision, const std::function<void(int gpu)>& open,
                            const std::function<void()>& close) {
  const bool is_auto = flags_.shared.device_request.kind == DeviceRequest::Kind::automatic;
  device_ = choose_device(flags_.shared.device_request, decision);
  if (is_auto && has_gpu_backend()) log_.detail(decision.detail);
  try {
    for (const int gpu : device_.gpus) open(gpu);
  } catch (const Error& error) {
    if (!is_auto) throw;
    log_.warn(fmt::format("the CPU is used: {}", error.what()));
    close();
    device_ = {{}, "cpu", error.what()};
  }
}

std::string ModelRun::fingerprint(const std::string& state) const {
  std::string text =
      fmt::format("{}\n{}{}\n{}\n", name_, given_options(*flags_.command), state, device_.on_gpu());
  const std::filesystem::path folder = std::filesystem::absolute(flags_.model);
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (const auto suffix = entry.path().extension();
        suffix == ".safetensors" || suffix == ".json" || suffix == ".txt" || suffix == ".tsv")
      files.insert(entry.path().string());
  for (const std::string& path : files) text += file_state(path);
  for (const std::string& path : flags_.inputs) text += file_state(path);
  for (const io::NamedFile& file : flags_.also_read)
    if (!file.path.empty()) text += file_state(file.path);
  return text;
}

void ModelRun::take(const pipeline::RecordOutputs& result, const Work& work) {
  for (const std::string& warning : result.warnings) log_.warn(warning);
  work.write(result);
  n_records_ += result.n_records;
  n_residues_ += result.n_residues;
  n_unknown_ += result.n_unknown;
}

// What comes later: the next is made while one is written.
pipeline::Times ModelRun::write_later(const pipeline::RecordOutputs& result, const Work& work) {
  if (result.later.empty()) return {};
  std::array<pipeline::RecordOutputs, 2> parts;
  std::size_t n_read = 0, n_made = 0;
  const auto make = [&](std::size_t slot) { result.later[n_made++](parts[slot]); };
  const auto put = [&](std::size_t slot) {
    take(parts[slot], work);
    parts[slot] = {};
  };
  return pipeline::run({1, 2},
                       {[&](std::size_t) { return n_read++ < result.later.size(); }, make, put});
}

std::uint64_t ModelRun::max_held_bytes() const {
  const std::uint64_t bound = flags_.shared.max_memory;
  return bound > 0 ? std::min(bound, pipeline::kMaxHeldBytes) : pipeline::kMaxHeldBytes;
}

// "5 sequences, 1697 residues, 800 residues/s"
std::string ModelRun::done(bool at_end) const {
  const double seconds = std::max(1e-9, log_.seconds());
  std::string text = report::counted(n_records_, words_.records);
  const bool has_parts = std::string_view(words_.parts) != words_.records;
  if (at_end && has_parts) text += ", " + report::counted(n_residues_, words_.parts);
  if (words_.rate_of_parts)
    text += fmt::format(", {:.0f} {}/s", static_cast<double>(n_residues_) / seconds, words_.parts);
  else if (at_end)
    text += fmt::format(", {:.1f} {}/s", static_cast<double>(n_records_) / seconds, words_.records);
  return text;
}

void ModelRun::run(ModelInput& input, const Work& work) {
  Progress progress(name_, flags_.shared.progress, flags_.shared.quiet);
  words_ = input.words();
  if (flags_.resume) {
    resume_log_ =
        std::make_unique<pipeline::ResumeLog>(resume_path(flags_), fingerprint(work.state));
    resume_log_->replay([&](const pipeline::RecordOutputs& result) { take(result, work); });
    if (n_records_ > 0)
      log_.info(fmt::format("{} {} there already", report::counted(n_records_, "records"),
                            n_records_ == 1 ? "was" : "were"));
  }
  const pipeline::Size size =
      work.holds_devices
          ? pipeline::Size{work.n_workers, work.n_workers}
          : pipeline::held_results(work.n_workers, work.result_bytes, max_held_bytes());
  std::vector<pipeline::RecordOutputs> results(static_cast<std::size_t>(size.n_in_flight));
  input.begin(results.size(), n_records_);
  pipeline::Times later;  // inside of the time of writing
  const auto put = [&](std::size_t slot) {
    if (resume_log_) resume_log_->append(results[slot]);
    take(results[slot], work);
    later += write_later(results[slot], work);
    results[slot] = {};  // what it holds of passes is not kept until the slot's next turn
    const double n = static_cast<double>(input.n_records());
    progress.update(n > 0 ? static_cast<double>(n_records_) / n : 0, done(false));
  };
  times_ = pipeline::run(size, {[&](std::size_t slot) { return input.read(slot); },
                                [&](std::size_t slot) { work.compute(slot, results[slot]); }, put});
  times_.compute_s += later.compute_s;
  times_.compute_wall_s += later.compute_wall_s;
  times_.write_s -= later.write_wait_s;
  times_.write_wait_s += later.write_wait_s;
  if (input.n_not_found() > 0)
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: holds {} records more than the inputs; remove it to start again",
                            resume_path(flags_), input.n_not_found()));
  files_ = input.files();
}

void ModelRun::write_summary(std::uint64_t output_bytes, const Report& report) {
  report::RunSummary run = begin_summary(command_line_, flags_.shared, device_, log_);
  run.inputs = files_;
  run.outputs = {{flags_.output, output_bytes}};
  add_times(run, times_);
  std::vector<StageTimes> three = pipeline::stages_of(times_);
  three.back().bytes = output_bytes;
  stages_.insert(stages_.end(), three.begin(), three.end());
  append_stages(run.stages, stages_);
  run.gpu_s = report.gpu_s;
  run.peak_device_bytes = report.peak_device_bytes;
  run.result = report.result;
  summary_.write(run);
}

void ModelRun::finish(std::uint64_t output_bytes, const Report& report,
                      const std::function<void()>& name_outputs) {
  write_summary(output_bytes, report);
  const io::CommitGuard guard;
  name_outputs();
  summary_.commit();
  if (resume_log_) resume_log_->remove();
  after_commit([&] {
    log_.stages(stages_);
    log_.info(done(true));
  });
}

}  // namespace biogpu::app
