// Measures what the machine can do at most; later work is held against these figures.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <thread>

#include "apps/biogpu-bench/align_bench.hpp"
#include "apps/biogpu-bench/align_inputs.hpp"
#include "apps/biogpu-bench/kmer_bench.hpp"
#include "apps/biogpu-bench/qc_bench.hpp"
#include "apps/biogpu-bench/qc_reads.hpp"
#include "apps/biogpu-bench/report.hpp"
#include "lib/core/error.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::bench {
namespace {

#ifndef BIOGPU_BENCH_HAS_GPU
std::string describe_gpu_of_build(int, std::string* why) {
  *why = "this build has no GPU backend";
  return {};
}
std::vector<Figure> measure_gpu_of_build(int, bool) { return {}; }
std::vector<Figure> measure_align_of_build(const AlignBenchSettings&) { return {}; }
std::vector<Figure> measure_qc_of_build(const QcBenchSettings&) { return {}; }
std::vector<Figure> measure_kmer_of_build(const KmerBenchSettings&) { return {}; }
void write_kmer_reads_of_build(const KmerBenchSettings&, const std::string&) {}
void write_pairs_of_build(std::size_t, std::size_t, const std::string&) {
  throw Error(ErrorCode::device, "this build has no GPU backend, whose pairs these are");
}
#else
std::string describe_gpu_of_build(int device, std::string* why) {
  return describe_gpu(device, why);
}
std::vector<Figure> measure_gpu_of_build(int device, bool quick) {
  return measure_gpu(device, quick);
}
std::vector<Figure> measure_align_of_build(const AlignBenchSettings& settings) {
  return measure_align(settings);
}
std::vector<Figure> measure_qc_of_build(const QcBenchSettings& settings) {
  return measure_qc(settings);
}
std::vector<Figure> measure_kmer_of_build(const KmerBenchSettings& settings) {
  return measure_kmer(settings);
}
void write_kmer_reads_of_build(const KmerBenchSettings& settings, const std::string& path) {
  write_kmer_reads(settings, path);
}
// One base in 20 is changed, inserted or deleted.
void write_pairs_of_build(std::size_t n, std::size_t length, const std::string& path) {
  write_letters(mutated_pairs(n, length, 20), path);
}
#endif

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

void write_report(const Report& report, const std::string& json) {
  fmt::print("{}", as_table(report));
  if (json.empty()) return;
  io::OutputFile file(json);
  file.write(as_json(report));
  file.commit();
}

struct LimitsFlags {
  int device = 0;
  int n_threads = static_cast<int>(std::thread::hardware_concurrency());
  bool quick = false;
  bool gpu_only = false;
  bool host_only = false;
  std::string json;
};

void run_limits(const LimitsFlags& flags) {
  Report report;
  report.machine = fmt::format("{}, {} threads", processor_name(), flags.n_threads);
  const auto add = [&](const std::vector<Figure>& figures) {
    report.figures.insert(report.figures.end(), figures.begin(), figures.end());
  };
  if (!flags.gpu_only) add(measure_host(flags.n_threads));
  if (!flags.host_only) {
    std::string why;
    report.device = describe_gpu_of_build(flags.device, &why);
    if (!report.device.empty()) {
      add(measure_gpu_of_build(flags.device, flags.quick));
    } else if (flags.gpu_only) {
      throw Error(ErrorCode::device, fmt::format("device {}: {}", flags.device, why));
    } else {
      fmt::print(stderr, "biogpu-bench: no GPU measured: {}\n", why);
    }
  }
  write_report(report, flags.json);
}

struct AlignFlags {
  AlignBenchSettings settings;
  std::string json;
};

void run_align(const AlignFlags& flags) {
  Report report;
  report.machine = fmt::format("{}, {} threads", processor_name(), flags.settings.n_threads);
  std::string why;
  report.device = describe_gpu_of_build(flags.settings.device, &why);
  if (report.device.empty())
    throw Error(ErrorCode::device, fmt::format("device {}: {}", flags.settings.device, why));
  report.figures = measure_align_of_build(flags.settings);
  write_report(report, flags.json);
}

void run_qc(const QcBenchSettings& settings, const std::string& json) {
  Report report;
  report.machine = processor_name();
  std::string why;
  report.device = describe_gpu_of_build(settings.device, &why);
  if (report.device.empty())
    throw Error(ErrorCode::device, fmt::format("device {}: {}", settings.device, why));
  report.figures = measure_qc_of_build(settings);
  write_report(report, json);
}

void run_kmer(const KmerBenchSettings& settings, const std::string& json,
              const std::string& reads) {
  if (!reads.empty()) return write_kmer_reads_of_build(settings, reads);
  Report report;
  report.machine = fmt::format("{}, {} threads", processor_name(), settings.n_threads);
  std::string why;
  report.device = describe_gpu_of_build(settings.device, &why);
  if (report.device.empty())
    throw Error(ErrorCode::device, fmt::format("device {}: {}", settings.device, why));
  report.figures = measure_kmer_of_build(settings);
  write_report(report, json);
}

int run(int argc, char** argv) {
  CLI::App app{"Measures the limits of this machine"};
  app.require_subcommand(1);
  LimitsFlags flags;
  CLI::App* limits = app.add_subcommand("limits", "Copy, gather, sort, issue and parse rates");
  limits->add_option("--device", flags.device, "GPU to measure, as listed by 'biogpu devices'");
  limits->add_option("-t,--threads", flags.n_threads, "Host threads")->check(CLI::PositiveNumber);
  limits->add_flag("--quick", flags.quick, "Tiny GPU sizes: shows that it runs, not how fast");
  limits->add_flag("--gpu-only", flags.gpu_only, "Leave the host out; fail without a GPU");
  limits->add_flag("--host-only", flags.host_only, "Leave the GPU out");
  limits->add_option("--json", flags.json, "Also write the figures as JSON");
  AlignFlags align_flags;
  align_flags.settings.n_threads = flags.n_threads;
  AlignBenchSettings& settings = align_flags.settings;
  CLI::App* align = app.add_subcommand("align", "Alignment and search rates of a GPU");
  align->add_option("--device", settings.device, "GPU to measure, as listed by 'biogpu devices'");
  align->add_option("-t,--threads", settings.n_threads, "Host threads")->check(CLI::PositiveNumber);
  align->add_flag("--quick", settings.quick, "Tiny sizes: shows that it runs, not how fast");
  align->add_option("--only", settings.only, "Run only workloads whose name holds this");
  CLI::Option* queries =
      align->add_option("--queries", settings.queries, "Proteins to search for in --proteome")
          ->check(CLI::ExistingFile);
  align->add_option("--proteome", settings.proteome, "Proteins to search in")
      ->check(CLI::ExistingFile)
      ->needs(queries);
  queries->needs("--proteome");
  align->add_option("--json", align_flags.json, "Also write the figures as JSON");
  QcBenchSettings qc_settings;
  std::string qc_json;
  CLI::App* qc = app.add_subcommand("qc", "Rates of the steps of qc on a GPU");
  qc->add_option("--device", qc_settings.device, "GPU to measure, as listed by 'biogpu devices'");
  qc->add_flag("--quick", qc_settings.quick, "Tiny sizes: shows that it runs, not how fast");
  qc->add_option("--json", qc_json, "Also write the figures as JSON");
  KmerBenchSettings kmer_settings;
  kmer_settings.n_threads = flags.n_threads;
  std::string kmer_json, kmer_reads;
  CLI::App* kmer = app.add_subcommand("kmer", "Counting and look-up rates of a GPU");
  kmer->add_option("--device", kmer_settings.device,
                   "GPU to measure, as listed by 'biogpu devices'");
  kmer->add_option("--devices", kmer_settings.n_devices,
                   "So many GPUs from that one on are measured together too")
      ->check(CLI::PositiveNumber);
  kmer->add_option("-t,--threads", kmer_settings.n_threads, "Host threads")
      ->check(CLI::PositiveNumber);
  kmer->add_flag("--quick", kmer_settings.quick, "Tiny sizes: shows that it runs, not how fast");
  kmer->add_option("--only", kmer_settings.only, "Run only workloads whose name holds this");
  kmer->add_option("--json", kmer_json, "Also write the figures as JSON");
  kmer->add_option("--write-reads", kmer_reads, "Write the reads as FASTQ here, and no more");
  std::uint64_t n_pairs = 0;
  unsigned seed = 1;
  std::string path1, path2;
  CLI::App* reads = app.add_subcommand("reads", "Writes simulated pairs of 150 bases as FASTQ");
  reads->add_option("--pairs", n_pairs, "Number of pairs")->required();
  reads->add_option("--seed", seed, "Of the generator");
  reads->add_option("OUT1", path1, "File of the first mates")->required();
  reads->add_option("OUT2", path2, "File of the second mates")->required();
  std::size_t n_alignments = 0, length = 150;
  CLI::App* pairs = app.add_subcommand("pairs", "Writes the pairs of align, two a line");
  pairs->add_option("--pairs", n_alignments, "Number of pairs")->required();
  pairs->add_option("--length", length, "Of both sequences");
  pairs->add_option("OUT", path1, "File of lines 'query <tab> target'")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ErrorCode::usage);
  }
  if (limits->parsed()) run_limits(flags);
  if (align->parsed()) run_align(align_flags);
  if (qc->parsed()) run_qc(qc_settings, qc_json);
  if (kmer->parsed()) run_kmer(kmer_settings, kmer_json, kmer_reads);
  if (reads->parsed()) write_pairs(n_pairs, seed, path1, path2);
  if (pairs->parsed()) write_pairs_of_build(n_alignments, length, path1);
  return 0;
}

}  // namespace
}  // namespace biogpu::bench

int main(int argc, char** argv) {
  try {
    return biogpu::bench::run(argc, argv);
  } catch (const biogpu::Error& error) {
    fmt::print(stderr, "biogpu-bench: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "biogpu-bench: {}\n", error.what());
    return 1;
  }
}
