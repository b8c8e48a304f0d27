#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "apps/biogpu/infer/dna/dna_run.hpp"
#include "apps/biogpu/infer/dna/window_input.hpp"
#include "lib/tasks/dna/tracks.hpp"

namespace biogpu::app {

// From windows of DNA to arrays of each: tracks, embeddings.
class WindowRun {
 public:
  // flags: of checked_flags().
  WindowRun(const WindowFlags& flags, std::string name, std::string command_line);

  const models::DnaModel& model() const { return run_.model(); }
  const models::DnaModel::Info& info() const { return run_.info(); }
  WindowInput& input() { return input_; }

  // write gets the results in the order of the input.
  void run(tasks::TrackOptions options, const DnaRun::Write& write);
  // As ModelRun has it. Throws Error{bad_input} after it where records were skipped.
  void finish(std::uint64_t output_bytes, const std::function<void()>& name_outputs);

 private:
  // Heads whose arrays of a window are computed and written at a time, where all of them are too
  // large; else none.
  std::vector<models::HeadRange> head_groups(const tasks::TrackOptions& options);
  void run_whole(tasks::TrackOptions options, const DnaRun::Write& write);
  void run_in_groups(const tasks::TrackOptions& options, std::span<const models::HeadRange> groups,
                     const DnaRun::Write& write);
  // first_head: of the loaded ones, that of the first array.
  static void place_arrays(const std::vector<WindowInput::Position>& windows,
                           const models::DnaModel& model, std::size_t first_head,
                           pipeline::RecordOutputs& result);
  // What needs no device: names places for errors, refuses numbers that are not finite.
  void finish_batch(std::size_t slot, const tasks::TrackOptions& options,
                    pipeline::RecordOutputs& result);

  const std::string genome_;  // or empty
  DnaRun run_;
  WindowInput input_;
  std::int64_t n_per_pass_ = 0;
  std::size_t n_head_groups_ = 1;
};

// `biogpu infer embed` of a model of DNA: arrays [bins, width].
void run_window_embed(WindowFlags flags, bool both_strands, const std::string& command_line);

}  // namespace biogpu::app
