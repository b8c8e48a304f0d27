#include "apps/biogpu/bwt_command.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {
namespace {

constexpr Subcommand kSubcommands[] = {
    {"index", "index a genome for searches, or for bwa", add_bwt_index},
    {"count", "how often each query occurs", add_bwt_count},
    {"locate", "where each query occurs, exactly or with mismatches", add_bwt_locate},
    {"smem", "super-maximal exact matches, as bwa fastmap", add_bwt_smem},
    {"stats", "numbers of an index", add_bwt_stats},
    {"extract", "regions of the genome back from an index", add_bwt_extract},
    {"transform", "Burrows-Wheeler transform of sequences or bytes", add_bwt_transform},
    {"inverse", "what a transform was made from", add_bwt_inverse},
};

constexpr char kFooter[] =
    "Examples:\n"
    "  biogpu bwt index genome.fa && biogpu bwt count -x genome.fa reads.fq.gz\n"
    "  biogpu bwt index --format bwa -p prefix genome.fa\n"
    "  biogpu bwt transform reads.fa -o reads.bwt\n\n";

}  // namespace

Run add_bwt(CLI::App& command) { return add_subcommands(command, kSubcommands, kFooter); }

void write_bwt_json(const SharedFlags& flags, const std::string& command_line, const Log& log,
                    const BwtReport& report) {
  if (flags.json.empty()) return;
  report::RunSummary run;
  run.git = BIOGPU_GIT;
  run.backend = gpu_backend_name();
  run.command = command_line;
  run.inputs = report.inputs;
  run.outputs = report.outputs;
  run.device_requested = flags.device;
  run.device_used = report.device.on_gpu() ? "gpu:" + std::to_string(report.device.gpus[0]) : "cpu";
  run.device_name = report.device.name;
  run.device_reason = report.device.reason;
  run.wall_s = log.seconds();
  run.gpu_s = report.gpu_s;
  run.read_s = report.read_s;
  run.compute_s = report.compute_s;
  run.write_s = report.write_s;
  run.peak_device_bytes = report.peak_device_bytes;
  run.result = report.result;
  run.warnings = log.warnings();
  io::OutputFile file(flags.json);
  file.write(report::json_summary(run));
  file.commit();
}

}  // namespace biogpu::app
