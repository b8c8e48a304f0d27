#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "apps/biogpu/bwt/query_sink.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/run/cost_tasks.hpp"
#include "apps/biogpu/run/process_end.hpp"
#include "lib/bwt/bwt_device.hpp"
#include "lib/core/device_start.hpp"
#include "lib/core/error.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/output/suffix.hpp"
#include "lib/io/sequence_reader.hpp"
#include "lib/pipeline/pipeline.hpp"
#include "lib/report/counted.hpp"

namespace biogpu::app {
namespace {

constexpr std::size_t kQueriesPerBatch = 16384;
constexpr std::size_t kGpuQueriesPerBatch = 1u << 19;
constexpr std::uint32_t kMaxMismatches = 16;

constexpr char kCountFooter[] =
    "Columns: query, places on the forward strand, on the reverse strand, on both. A query with\n"
    "letters other than A, C, G, T matches nowhere exactly; with -k each is a mismatch.\n\n"
    "Examples:\n"
    "  biogpu bwt count -x genome.fa reads.fq.gz -o counts.tsv\n"
    "  biogpu bwt count -x genome.fa -k 2 --strand forward primers.fa\n\n";
constexpr char kLocateFooter[] =
    "Columns of TSV: query, target, begin, end (0-based, half-open), strand, mismatches. BED: "
    "target,\n"
    "begin, end, query, mismatches, strand. SAM: every place after the first is secondary.\n\n"
    "Examples:\n"
    "  biogpu bwt locate -x genome.fa reads.fq.gz -o places.tsv\n"
    "  biogpu bwt locate -x genome.fa -k 2 --hits best guides.fa -o guides.bed\n"
    "  biogpu bwt locate -x genome.fa --max-hits 100 reads.fq.gz -o places.bam\n\n";

void run_queries(const QueryFlags& flags, bool counts_only, const std::string& command_line) {
  Log log(counts_only ? "bwt count" : "bwt locate", flags.shared.quiet, flags.shared.verbose);
  BwtReport report;
  const StageClock start("start", flags.shared.threads);
  const std::string path = index_file(flags.index_path);
  cost::Work work;
  work.task = &works::kBwtSearch;
  work.n_threads = flags.shared.threads;
  add_file(work, flags.query_path);
  work.units = work.bytes;
  const AutoDecision decision = decide_for_one(flags.shared.device_request, work);
  DeviceStart device_start(flags.shared.device_request, decision);
  const bwt::FmIndex index = bwt::FmIndex::open(path, flags.shared.threads);
  io::SequenceReader reader = io::open_shard(flags.query_path, flags.shard, flags.shared.threads);
  const StageClock device("start/device", 1);
  report.device = device_start.get();
  log_device(log, decision, report.device);
  bwt::CpuSearch cpu(index);
  std::unique_ptr<bwt::GpuSearch> gpu;
  if (report.device.on_gpu()) gpu = bwt::make_gpu_search(report.device.gpus.front(), index);
  const StageTimes device_stage = device.stop();
  bwt::ExactSearch& search = gpu ? static_cast<bwt::ExactSearch&>(*gpu) : cpu;
  SummaryFile summary(flags.shared);
  QuerySink sink(index, flags, counts_only, command_line);
  const std::size_t usual = gpu ? kGpuQueriesPerBatch : kQueriesPerBatch;
  const io::BatchLimits limits{flags.shared.batch != 0 ? flags.shared.batch : usual, 64u << 20};
  // A chunk of the reader needs no copy, but is too small for a GPU.
  const bool any_size = !gpu && flags.shared.batch == 0;
  std::vector<QueryItem> items(static_cast<std::size_t>(2 * flags.shared.threads + 2));
  std::uint64_t n_found = 0;
  std::uint64_t n_places = 0;
  std::uint64_t n_cut = 0;
  Progress progress(counts_only ? "bwt count" : "bwt locate", flags.shared.progress,
                    flags.shared.quiet);
  std::uint64_t n_queries = 0;
  report.stages = {start.stop(index.bytes()), device_stage};
  const pipeline::Times times = pipeline::run(
      {flags.shared.threads, static_cast<int>(items.size())},
      {[&](std::size_t slot) {
         io::SequenceBatch& batch = items[slot].batch;
         return any_size ? reader.read_any(batch, limits) : reader.read(batch, limits);
       },
       [&](std::size_t slot) {
         (counts_only ? count_queries : locate_queries)(index, search, flags, items[slot]);
         sink.format(items[slot]);
       },
       [&](std::size_t slot) {
         sink.write(items[slot]);
         for (const QueryAnswer& answer : items[slot].answers) {
           const std::uint64_t n = answer.n_forward + answer.n_reverse;
           n_places += n;
           n_found += n > 0 ? 1 : 0;
           n_cut += answer.cut ? 1 : 0;
         }
         n_queries += items[slot].answers.size();
         update_progress(progress, reader, n_queries);
       }});
  progress.clear();
  if (n_cut > 0)
    log.warn(fmt::format("{} queries have more than {} places, of which the first are written",
                         n_cut, flags.max_hits));
  report.inputs = {{path, index.bytes(), index.contigs().size()},
                   {flags.query_path, reader.file_bytes(), reader.n_records()}};
  report.outputs = {{flags.out_path, sink.bytes()}};
  if (gpu) {
    report.gpu_s = gpu->device_seconds();
    report.peak_device_bytes = gpu->device_bytes();
  }
  report.read_s = times.read_s;
  report.compute_s = times.compute_s;
  report.write_s = times.write_s;
  const auto stages = search_stages(times, reader.compressed_bytes(), sink.bytes());
  report.stages.insert(report.stages.end(), stages.begin(), stages.end());
  report.result = {
      {"queries", reader.n_records()}, {"found", n_found}, {"places", n_places}, {"k", flags.k}};
  write_bwt_summary(summary, flags.shared, command_line, log, report);
  const io::CommitGuard guard;
  sink.commit();
  summary.commit();
  after_commit([&] {
    log.stages(report.stages);
    if (flags.shard.is_whole() && flags.k == 0)
      keep_rates_of_run({work, gpu != nullptr, read_seconds(stages[0]), stages[1].busy_s, 0,
                         report.gpu_s, gpu ? device_start.seconds() : 0});
    log.info(fmt::format("{}, {} found, {} in {:.2f} s",
                         report::counted(reader.n_records(), "queries"), n_found,
                         report::counted(n_places, "places"), log.seconds()));
  });
}

std::shared_ptr<QueryFlags> add_query_flags(CLI::App& command) {
  auto flags = std::make_shared<QueryFlags>();
  command
      .add_option(
          "queries", flags->arguments,
          "FASTA, FASTQ, SAM, BAM or CRAM file of the queries; - is standard input; without "
          "-x the index before it")
      ->required()
      ->expected(1, 2)
      ->option_text("[PREFIX] QUERIES");
  command
      .add_option("-x,--index", flags->index_path,
                  "search the index of this name, made by 'biogpu bwt index'")
      ->option_text("PREFIX");
  command
      .add_option("-o,--output", flags->out_path,
                  "write the answers to this file, compressed where its name ends in .gz [-, "
                  "standard output]")
      ->option_text("FILE");
  command
      .add_option("-k,--mismatches", flags->k, "allow K different letters in a match, 0 to 16 [0]")
      ->transform(in_range(0u, kMaxMismatches))
      ->option_text("K");
  const std::map<std::string, Strands> strands{
      {"both", Strands::both}, {"forward", Strands::forward}, {"reverse", Strands::reverse}};
  command
      .add_option("--strand", flags->strands,
                  "search these strands of the text: both, forward or reverse [both]")
      ->transform(one_of(strands))
      ->option_text("WHICH");
  const std::map<std::string, HitsWanted> hits{{"all", HitsWanted::all},
                                               {"best", HitsWanted::best}};
  command
      .add_option("--hits", flags->hits,
                  "report all matches, or those with the fewest mismatches (best) [all]")
      ->transform(one_of(hits))
      ->option_text("WHICH");
  return flags;
}

// The format of --format and of the suffix of --output, which must agree.
std::string form_of(const QueryFlags& flags) {
  std::vector<std::string> suffixes = {"txt"};
  const auto take = [&](const char* form, std::initializer_list<const char*> its) {
    if (flags.format.empty() || flags.format == form)
      suffixes.insert(suffixes.end(), its.begin(), its.end());
  };
  take("tsv", {"tsv"});
  take("bed", {"bed"});
  take("sam", {"sam", "bam", "cram"});
  const bool is_told = !flags.format.empty();
  const std::string wrong = io::check_suffix(
      flags.out_path, suffixes, is_told ? io::OtherSuffixes::accept : io::OtherSuffixes::refuse);
  if (!wrong.empty())
    throw Error(ErrorCode::usage,
                fmt::format("--output: {}{}", wrong,
                            is_told ? ", with --format " + flags.format : std::string()));
  if (is_told) return flags.format;
  const std::string suffix = io::suffix_of(flags.out_path).format;
  if (suffix == "sam" || suffix == "bam" || suffix == "cram") return "sam";
  return suffix == "bed" ? "bed" : "tsv";
}

void resolve(QueryFlags& flags, const char* command) {
  take_index_and_queries(flags.arguments, command, flags.index_path, flags.query_path);
  flags.shared.require_own_outputs(
      {{"QUERIES", flags.query_path}, {"the index", index_file(flags.index_path)}},
      {{"--output", flags.out_path}});
  flags.shared.resolve();
}

void add_run_flags(CLI::App& command, QueryFlags& flags) {
  add_shared_flags(command, flags.shared);
  remove_flags(command, {"--max-memory", "--max-device-memory"});
  command.get_option("--batch")->description(
      "search at most N queries in one batch [chosen for the device]");
  add_shard_flag(command, flags.shard,
                 "search part I of N of the queries; 'biogpu gather' joins parts");
}

}  // namespace

Run add_bwt_count(CLI::App& command) {
  const auto flags = add_query_flags(command);
  command.get_option("--output")->check(output_name({"tsv", "txt"}));
  add_run_flags(command, *flags);
  command.footer(std::string(kCountFooter) + kExitCodes);
  return [flags](const std::string& command_line) {
    resolve(*flags, "count");
    run_queries(*flags, true, command_line);
  };
}

Run add_bwt_locate(CLI::App& command) {
  const auto flags = add_query_flags(command);
  command
      .add_option("-f,--format", flags->format,
                  "write places as tsv, bed or sam [by the suffix of FILE, else tsv]")
      ->transform(one_of({"tsv", "bed", "sam"}))
      ->option_text("WHAT");
  command.add_option("--max-hits", flags->max_hits, "write at most N places for a query [all]")
      ->transform(in_range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
      ->option_text("N");
  add_run_flags(command, *flags);
  command.footer(std::string(kLocateFooter) + kExitCodes);
  return [flags](const std::string& command_line) {
    flags->format = form_of(*flags);
    resolve(*flags, "locate");
    run_queries(*flags, false, command_line);
  };
}

}  // namespace biogpu::app
