#include "apps/biogpu/infer/dna/dna_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "apps/biogpu/infer/dna/head_choice.hpp"

namespace biogpu::app {
namespace {

// Bases of a pass, in whole windows: more do not make a pass of the published models faster.
constexpr std::int64_t kCpuBases = 196608;
constexpr std::int64_t kGpuBases = 2 * 196608;

// At least a window of the published models. Over a tower of convolutions a weight is multiplied
// once for so many bases.
double count_products(double n_bases) {
  constexpr double kBasesPerProduct = 30;
  return std::max(n_bases, static_cast<double>(kCpuBases)) / kBasesPerProduct;
}

// "8 bins of 128", of one or of all heads; of each where they differ.
std::string describe_bins(const models::DnaModel& model) {
  std::vector<std::string> texts;
  std::set<std::string> different;
  for (const models::HeadChoice& choice : model.heads()) {
    const models::TrackHead& head = model.head(choice);
    const std::string rows =
        fmt::format("{} {} of {}", head.bins.n_bins, head.row_kind.empty() ? "bins" : head.row_kind,
                    head.bins.bin_size);
    different.insert(rows);
    texts.push_back(fmt::format("{} {}", head.name, rows));
  }
  return different.size() == 1 ? *different.begin() : fmt::format("{}", fmt::join(texts, ", "));
}

// The same for the summary: at the model where heads agree.
void add_bins(const models::DnaModel& model, nlohmann::ordered_json& summary) {
  const models::BinGrid& first = model.head(model.heads().front()).bins;
  const auto is_first = [&](const models::HeadChoice& choice) {
    return model.head(choice).bins == first;
  };
  const auto describe = [](const models::BinGrid& bins, nlohmann::ordered_json& to) {
    to["bin_size"] = bins.bin_size;
    to["bins"] = bins.n_bins;
  };
  if (std::all_of(model.heads().begin(), model.heads().end(), is_first))
    return describe(first, summary);
  for (const models::HeadChoice& choice : model.heads())
    describe(model.head(choice).bins, summary["heads"][choice.name]);
}

models::LoadOptions load_options(const DnaFlags& flags) {
  models::LoadOptions options;
  options.choose_heads = [&flags](const std::vector<models::TrackHead>& heads) {
    return choose_heads(flags.heads, flags.infer.model, heads);
  };
  return options;
}

}  // namespace

DnaRun::DnaRun(DnaFlags flags, std::string name, std::string command_line, double n_bases)
    : flags_(std::move(flags)),
      run_(flags_.infer, std::move(name), std::move(command_line)),
      devices_(run_, decide_model(run_.flags(), count_products(n_bases)), load_options(flags_)) {
  if (!info().warning.empty())
    run_.log().warn(fmt::format("{}: {}", run_.flags().model, info().warning));
  for (const auto& [choice, value] : info().choices)
    run_.log().detail(fmt::format("{}: {} {}", run_.flags().model, choice, value));
  run_.log().detail(fmt::format("{}: {}, windows of {} bases, {}, on {}", run_.flags().model,
                                info().architecture, info().window, describe_bins(model()),
                                run_.device().name));
}

std::int64_t DnaRun::windows_per_pass(const models::DnaModel::Request& request) const {
  const SharedFlags& shared = run_.flags().shared;
  const bool on_gpu = run_.device().on_gpu();
  std::int64_t n = shared.batch > 0 ? static_cast<std::int64_t>(shared.batch)
                                    : (on_gpu ? kGpuBases : kCpuBases) / info().window;
  // Rows are numbered by 32 bits.
  n = std::clamp<std::int64_t>(n, 1, (std::int64_t{1} << 30) / info().window);
  return static_cast<std::int64_t>(
      largest_batch(run_, static_cast<std::uint64_t>(n), 1, [&](std::uint64_t n_windows) {
        return model().measure(static_cast<std::int64_t>(n_windows), request);
      }));
}

void DnaRun::prepare(tasks::CompareOptions& compare) {
  compare.windows_per_pass = windows_per_pass({});
  const std::uint64_t kept = compare.reuse ? tasks::kept_bytes(model()) : 0;
  if (kept > compare.max_kept_bytes)
    log().warn(fmt::format(
        "--kept-memory of {} bytes is less than the {} of one window: nothing is reused",
        compare.max_kept_bytes, kept));
  else if (kept > 0 && kept > model().room_for_kept())
    log().warn(
        fmt::format("{} has too little free memory for the {} bytes that are kept of one "
                    "window: nothing is reused",
                    run_.device().name, kept));
}

int DnaRun::threads_of_device() const {
  return std::max(1, run_.flags().shared.threads / devices_.size());
}

void DnaRun::run(ModelInput& input, const Compute& compute, const Write& write,
                 const Finish& finish, std::uint64_t result_bytes) {
  const int workers_of_device = finish ? 2 : 1;
  run_.run(input, {workers_of_device * devices_.size(), name_of(devices_.precision()),
                   [&](std::size_t slot, pipeline::RecordOutputs& result) {
                     devices_.use<models::DnaModel>(
                         [&](models::DnaModel& model) { compute(model, slot, result); });
                     if (finish) finish(slot, result);
                   },
                   write, result_bytes});
}

void DnaRun::run_holding(ModelInput& input, const Hold& compute, const Write& write) {
  run_.run(input, {devices_.size(), name_of(devices_.precision()),
                   [&](std::size_t slot, pipeline::RecordOutputs& result) {
                     compute(devices_.acquire<models::DnaModel>(), slot, result);
                   },
                   write, 0, true});
}

void DnaRun::finish(std::uint64_t output_bytes, const nlohmann::ordered_json& counts,
                    const std::function<void()>& name_outputs) {
  nlohmann::ordered_json model = {{"architecture", info().architecture}, {"window", info().window}};
  add_bins(this->model(), model);
  model["parameters"] = info().n_parameters;
  for (const auto& [choice, value] : info().choices) model[choice] = value;
  nlohmann::ordered_json result = {{"model", model}, {"precision", name_of(devices_.precision())}};
  result.update(counts);
  run_.finish(output_bytes, devices_.report(std::move(result)), name_outputs);
}

}  // namespace biogpu::app
