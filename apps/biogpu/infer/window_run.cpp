#include "apps/biogpu/infer/window_run.hpp"

#include <utility>
#include <vector>

namespace biogpu::app {

WindowRun::WindowRun(const WindowFlags& flags, std::string name, std::string command_line)
    : run_(flags.dna, std::move(name), std::move(command_line),
           file_bytes(flags.dna.infer.inputs)) {
  input_.open(open_windows(flags, info().window), unknown_code(flags.dna));
}

void WindowRun::compute(models::DnaModel& model, std::size_t slot,
                        const tasks::TrackOptions& options, pipeline::BatchResult& result) {
  const tasks::DnaWindows& windows = input_.windows(slot);
  tasks::compute_tracks(model, windows, options, result);
  // The arrays of a window lie next to each other, as many for each.
  const std::vector<io::NamedArray>& arrays = result.arrays;
  for (std::size_t i = 0; i < arrays.size(); ++i)
    run_.require_finite(arrays[i].values, input_.place(slot, i * windows.size() / arrays.size()));
}

void WindowRun::run(tasks::TrackOptions options, const DnaRun::Write& write) {
  n_per_pass_ = options.windows_per_pass = run_.windows_per_pass(options.request);
  input_.set_batch(n_per_pass_);
  run_.run(
      input_,
      [&](models::DnaModel& model, std::size_t slot, pipeline::BatchResult& result) {
        compute(model, slot, options, result);
      },
      write);
  if (run_.n_records() == 0) run_.log().warn("the input has no window; the output is empty");
}

void WindowRun::finish(std::uint64_t output_bytes, const std::function<void()>& name_outputs) {
  run_.finish(output_bytes, {{"windows_per_pass", n_per_pass_}, {"windows", run_.n_records()}},
              name_outputs);
}

}  // namespace biogpu::app
