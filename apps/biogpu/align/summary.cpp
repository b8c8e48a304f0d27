// What a run of `biogpu align` says of itself: the last lines of the log and the JSON summary.
#include <fmt/format.h>

#include "apps/biogpu/align/run.hpp"
#include "apps/biogpu/run_summary.hpp"

namespace biogpu::app {

void AlignRun::log_summary(double wall_s) {
  const io::SequenceReader& queries = reader_.query_reader();
  const io::SequenceReader& targets = reader_.target_reader();
  if (totals_.n_pairs == 0)
    log_.warn(fmt::format("no pairs: {} has {} records, {} has {}", queries.path(),
                          queries.n_records(), targets.path(), targets.n_records()));
  const ComputeTimes compute = compute_->times();
  log_.detail(fmt::format(
      "read {:.2f} s, compute {:.2f} s over all threads (encode {:.2f}, select {:.2f}, align "
      "{:.2f}, format {:.2f}; GPU kernels {:.2f}), write {:.2f} s",
      times_.read_s, times_.compute_s, compute.encode_s, compute.select_s, compute.align_s,
      compute.format_s, backend_->device_seconds(), times_.write_s));
  const auto n_cells = static_cast<double>(totals_.n_cells);
  const std::string rows =
      totals_.n_rows == totals_.n_pairs ? std::string() : fmt::format(", {} rows", totals_.n_rows);
  log_.info(fmt::format(
      "{} queries, {} targets, {} pairs{}, {:.3g} cells in {:.2f} s: {:.2f} GCUPS on {}",
      queries.n_records(), targets.n_records(), totals_.n_pairs, rows, n_cells, wall_s,
      1e-9 * n_cells / wall_s, device_text()));
}

std::string AlignRun::json_text(const AlignSink& sink, double wall_s) {
  report::RunSummary run = begin_summary(command_line_, flags_.shared, choice_, log_);
  run.wall_s = wall_s;
  if (backend_->fell_back()) run.device_used += ",cpu";
  const io::SequenceReader& queries = reader_.query_reader();
  run.inputs.push_back({queries.path(), queries.file_bytes(), queries.n_records()});
  if (!reader_.one_set()) {
    const io::SequenceReader& targets = reader_.target_reader();
    run.inputs.push_back({targets.path(), targets.file_bytes(), targets.n_records()});
  }
  run.outputs.push_back({flags_.out_path, sink.bytes()});
  run.gpu_s = backend_->device_seconds();
  add_times(run, times_);
  run.peak_device_bytes = backend_->peak_device_bytes();
  const ComputeTimes compute = compute_->times();
  run.result = {{"mode", flags_.mode},
                {"alphabet", alphabet_ == Alphabet::dna ? "dna" : "protein"},
                {"gap_open", style_.options.scoring.gap_open},
                {"gap_extend", style_.options.scoring.gap_extend},
                {"pairs", totals_.n_pairs},
                {"rows", totals_.n_rows},
                {"cells", totals_.n_cells},
                {"gcups", 1e-9 * static_cast<double>(totals_.n_cells) / wall_s},
                {"encode_s", compute.encode_s},
                {"select_s", compute.select_s},
                {"align_s", compute.align_s},
                {"format_s", compute.format_s}};
  return report::json_summary(run);
}

}  // namespace biogpu::app
