#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/biogpu/infer/run/item_input.hpp"
#include "apps/biogpu/infer/run/model_devices.hpp"
#include "apps/biogpu/infer/run/model_run.hpp"
#include "lib/pipeline/record_outputs.hpp"

namespace biogpu::app {

// What ItemRun needs to know of a kind of items, besides their source.
struct ItemKind {
  RecordWords words;
  double n_products = 1;  // of each weight, about: decide_model()
  int max_gpus = kAllGpus;
  // Costs of a batch where --batch does not tell: more do not make it faster.
  std::uint64_t cpu_batch = 1;
  std::uint64_t gpu_batch = 1;
};

// From a source of items through a model on all devices to one ordered output, with everything that
// the commands of models have in common. A new kind of input is an ItemSource and what is computed
// of a batch. Kind: the class of the task's models.
template <class Kind, class Item>
class ItemRun {
 public:
  using Source = ItemSource<Item>;
  // Loads the model on every device that is to be used. flags.inputs: the files that are read.
  // cost: as ItemInput has it.
  ItemRun(InferFlags flags, std::string name, std::string command_line, const ItemKind& kind,
          const std::function<std::unique_ptr<Source>(const InferFlags& flags)>& open,
          typename ItemInput<Item>::Cost cost = {}, models::LoadOptions options = {})
      : run_(std::move(flags), std::move(name), std::move(command_line)),
        input_(kind.words, open(run_.flags()), std::move(cost)),
        devices_(run_, decide_model(run_.flags(), kind.n_products, kind.max_gpus),
                 std::move(options)) {
    const std::uint64_t batch = run_.flags().shared.batch;
    max_cost_ = batch > 0 ? batch : (run_.device().on_gpu() ? kind.gpu_batch : kind.cpu_batch);
    input_.set_report([this](const std::string& what) { run_.log().warn("skipped: " + what); });
  }

  const InferFlags& flags() const { return run_.flags(); }
  const DeviceChoice& device() const { return run_.device(); }
  Log& log() { return run_.log(); }
  const ModelDevices& devices() const { return devices_; }
  // The first device's, for what computes nothing.
  Kind& model() const { return devices_.template first<Kind>(); }
  ItemInput<Item>& input() { return input_; }
  std::uint64_t n_records() const { return run_.n_records(); }
  std::uint64_t n_parts() const { return run_.n_residues(); }

  // The costs of a batch add up to this at most.
  std::uint64_t max_cost() const { return max_cost_; }
  void limit_batch(std::uint64_t max_cost) { max_cost_ = std::min(max_cost_, max_cost); }
  // Halves batches until a pass fits the memory that the options allow. measure: bytes of one.
  void limit_memory(const std::function<std::size_t(std::uint64_t cost)>& measure) {
    max_cost_ = largest_batch(run_, max_cost_, 1, measure);
  }
  // Leaves out, with --skip-bad, items for which check throws Error{bad_input}.
  void leave_out_bad(typename ItemInput<Item>::Check check) {
    if (run_.flags().skip_bad) input_.leave_out_bad(std::move(check));
  }
  // What results depend on besides options and files: --resume goes on only where it is the same.
  void add_state(const std::string& state) {
    state_ += '\n';
    state_ += state;
  }
  // Items that were left out while they were computed; they are not among the results.
  void add_skipped(std::uint64_t n_items) { n_skipped_ += n_items; }

  // Calls use(Kind&) with a free model; waits for one.
  template <class Use>
  void use_model(const Use& use) {
    devices_.template use<Kind>(use);
  }
  using Compute = std::function<void(std::vector<Item>& items, pipeline::RecordOutputs& result)>;
  using Write = std::function<void(const pipeline::RecordOutputs& result)>;
  // compute runs on any thread; write gets the results in the order of the input. With two workers
  // a device one prepares a batch or writes results as text while the other has the model; an error
  // in a batch then loses the one before it.
  void run(const Compute& compute, const Write& write, int workers_a_device = 1) {
    input_.set_max_cost(max_cost_);
    const auto compute_slot = [&](std::size_t slot, pipeline::RecordOutputs& result) {
      std::vector<Item>& items = input_.items(slot);
      result.n_records = items.size();
      for (const Item& item : items) result.n_residues += input_.cost(item);
      compute(items, result);
    };
    run_.run(input_, {workers_a_device * devices_.size(), devices_.precision_name() + state_,
                      compute_slot, write});
    if (run_.n_records() == 0)
      run_.log().warn(
          fmt::format("the input has no {}; the output has no results", input_.words().records));
  }
  // Adds the counts of items to what the summary holds.
  void add_counts(nlohmann::ordered_json& result) const {
    const RecordWords& words = input_.words();
    result[words.records] = run_.n_records() - n_skipped_;
    result[words.parts] = run_.n_residues();
    result["skipped"] = {{words.records, n_skipped()}};
  }
  // As ModelRun has it. result: of the summary. Throws Error{bad_input} at the end where items were
  // left out.
  void finish(std::uint64_t output_bytes, nlohmann::ordered_json result,
              const std::function<void()>& name_outputs) {
    run_.finish(output_bytes, devices_.report(std::move(result)), name_outputs);
    throw_if_skipped(run_.flags(), n_skipped(), input_.words().records);
  }

 private:
  std::uint64_t n_skipped() const { return input_.source().n_skipped() + n_skipped_; }

  ModelRun run_;
  ItemInput<Item> input_;
  ModelDevices devices_;
  std::uint64_t max_cost_ = 1;
  std::uint64_t n_skipped_ = 0;
  std::string state_;
};

}  // namespace biogpu::app
