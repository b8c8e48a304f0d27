// What a run of `biogpu align` says of itself: the last lines of the log and the JSON summary.
#include <fmt/format.h>

#include <algorithm>

#include "apps/biogpu/align/run.hpp"
#include "apps/biogpu/run/cost_tasks.hpp"
#include "apps/biogpu/run/run_summary.hpp"
#include "apps/biogpu/run/start_stages.hpp"
#include "lib/core/auto_device.hpp"
#include "lib/report/counted.hpp"

namespace biogpu::app {
namespace {

const char* strand_name(Strand strand) {
  if (strand == Strand::both) return "both";
  return strand == Strand::forward ? "forward" : "reverse";
}

}  // namespace

void AlignRun::log_summary(double wall_s) {
  const io::SequenceReader& queries = reader_.query_reader();
  const io::SequenceReader& targets = reader_.target_reader();
  if (totals_.n_pairs == 0)
    log_.warn(fmt::format("no pairs: {} has {} records, {} has {}", queries.path(),
                          queries.n_records(), targets.path(), targets.n_records()));
  const auto n_cells = static_cast<double>(totals_.n_cells);
  const std::string rows = totals_.n_rows == totals_.n_pairs
                               ? std::string()
                               : ", " + report::counted(totals_.n_rows, "rows");
  log_.info(fmt::format("{}, {}, {}{}, {:.3g} cells in {:.2f} s: {:.2f} GCUPS on {}",
                        report::counted(queries.n_records(), "queries"),
                        report::counted(targets.n_records(), "targets"),
                        report::counted(totals_.n_pairs, "pairs"), rows, n_cells, wall_s,
                        1e-9 * n_cells / wall_s, device_text()));
}

void AlignRun::keep_rates() const {
  const align::Options& options = style_.options;
  // The cells that are counted are not those that are computed, or the CPU did a part of them.
  // A part of the input does not give the rates of the whole, nor does reading that is timed in
  // part.
  if (options.band != align::kNoBand || options.xdrop != align::kNoXdrop || backend_->fell_back() ||
      !flags_.shard.is_whole())
    return;
  const std::vector<StageTimes> three = pipeline::stages_of(times_);
  const ComputeTimes compute = compute_->times();
  cost::Observed seen;
  seen.work = align_work(reader_, style_.output, selection_, flags_.shared.threads);
  seen.work.units = static_cast<double>(totals_.n_cells);
  seen.on_gpu = choice_.on_gpu();
  const bool reads_in_order = flags_.pairing() == Pairing::by_order;
  seen.read_s = reads_in_order ? read_seconds(three[0]) : 0;
  seen.workers_s = seen.on_gpu ? compute.encode_s + compute.format_s : times_.compute_s;
  seen.device_s = backend_->device_seconds();
  if (choice_.gpus.size() == 1) seen.start_s = device_start_->seconds();
  keep_rates_of_run(seen);
}

std::vector<StageTimes> AlignRun::stages(std::uint64_t bytes_written) const {
  std::uint64_t n_bytes = reader_.query_reader().compressed_bytes();
  if (!reader_.one_set()) n_bytes += reader_.target_reader().compressed_bytes();
  std::vector<StageTimes> all = start_stages_;
  std::vector<StageTimes> three = pipeline::stages_of(times_);
  three[0].bytes = three[1].bytes = n_bytes;
  three[2].bytes = bytes_written;
  const ComputeTimes compute = compute_->times();
  const int n_workers = three[1].n_threads;
  all.insert(all.end(), {three[0], three[1]});
  all.push_back({"compute/encode", n_workers, 0, compute.encode_s, 0, "", n_bytes});
  all.push_back({"compute/select", n_workers, 0, compute.select_s, 0, "", 0});
  const double wait_s = backend_->wait_seconds();
  all.push_back({"compute/align", n_workers, 0, std::max(0.0, compute.align_s - wait_s), wait_s,
                 choice_.on_gpu() ? "the device" : "", n_bytes});
  all.push_back({"compute/format", n_workers, 0, compute.format_s, 0, "", bytes_written});
  if (choice_.on_gpu())
    all.push_back({"device/kernels", static_cast<int>(choice_.gpus.size()), 0,
                   backend_->device_seconds(), 0, "", n_bytes});
  all.push_back(three[2]);
  return all;
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
  append_stages(run.stages, stages(sink.bytes()));
  run.result = {{"mode", flags_.mode},
                {"alphabet", alphabet_ == Alphabet::dna ? "dna" : "protein"},
                {"strand", strand_name(selection_.strand)},
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
