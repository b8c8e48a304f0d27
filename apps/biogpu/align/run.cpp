#include "apps/biogpu/align/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "apps/biogpu/align/options/alphabet.hpp"
#include "apps/biogpu/align/options/scoring.hpp"
#include "apps/biogpu/run/cost_tasks.hpp"
#include "apps/biogpu/run/process_end.hpp"
#include "apps/biogpu/terminal/progress.hpp"
#include "lib/core/auto_device.hpp"
#include "lib/core/cpu_isa.hpp"
#include "lib/core/error.hpp"
#include "lib/io/alignments/sam_text.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/io/output_file.hpp"
#include "lib/report/counted.hpp"

namespace biogpu::app {
namespace {

constexpr UnitLimits kCpuUnit{4096, 1000000000};
// Small enough that units in flight stay in memory that was used before: the first touch of a page
// costs more than a device gains from more pairs at a time.
constexpr UnitLimits kGpuUnit{16384, 100000000000};
// Queries that one search takes; the search itself uses all threads.
constexpr UnitLimits kCpuSearch{256, 50000000000};
constexpr UnitLimits kGpuSearch{4096, 5000000000000};
constexpr io::BatchLimits kBlock{65536, 16u << 20};

// Starts one GPU where GPUs are asked for: the first blocks tell whether others pay, and `auto`
// decides by them.
std::unique_ptr<DeviceStart> early_start(const DeviceRequest& request) {
  if (request.kind == DeviceRequest::Kind::automatic) return nullptr;
  AutoDecision one;
  one.max_gpus = 1;
  return std::make_unique<DeviceStart>(request, one);
}

}  // namespace

cost::Work align_work(const UnitReader& reader, align::Output output, const Selection& selection,
                      int n_threads) {
  cost::Work work;
  work.task = selection.search                 ? &works::kAlignSearch
              : output == align::Output::score ? &works::kAlignScore
                                               : &works::kAlignRows;
  work.units = reader.estimated_cells() * (selection.strand == Strand::both ? 2 : 1);
  work.n_threads = n_threads;
  add_file(work, reader.query_reader().path());
  if (!reader.one_set()) add_file(work, reader.target_reader().path());
  return work;
}

AlignRun::AlignRun(const AlignFlags& flags, std::string command_line)
    : flags_(flags),
      command_line_(std::move(command_line)),
      log_("align", flags.shared.quiet, flags.shared.verbose),
      device_start_(early_start(flags.shared.device_request)),
      reader_(source()) {
  start_stages_.push_back(start_.stop());
  start_stages_.back().name = "start/first-blocks";
}

void AlignRun::run() {
  choose();
  std::optional<io::OutputFile> json;
  if (!flags_.shared.json.empty()) json.emplace(flags_.shared.json);
  AlignSink sink(flags_.out_path, style_, row_header(style_, command_line_), command_line_,
                 flags_.shared.threads);
  process(sink);
  const double wall_s = log_.seconds();
  // Both are written before either gets its final name.
  if (json) {
    json->write(json_text(sink, wall_s));
    json->finish();
  }
  const io::CommitGuard guard;
  sink.commit();
  if (json) json->commit();
  after_commit([&] {
    log_summary(wall_s);
    log_.stages(stages(sink.bytes()));
    keep_rates();
  });
}

bool AlignRun::may_use_gpu() const {
  return flags_.shared.device_request.kind != DeviceRequest::Kind::cpu;
}

UnitReader::Source AlignRun::source() const {
  const SharedFlags& shared = flags_.shared;
  UnitReader::Source source;
  source.query_path = flags_.query_path;
  source.target_path = flags_.target_path;
  source.pairing = flags_.pairing();
  source.n_threads = shared.threads;
  source.shard = flags_.shard;
  if (!flags_.shard.is_whole()) {  // before a pipe is waited for
    io::require_file_for_shard(flags_.query_path);
    if (source.pairing == Pairing::by_order) io::require_file_for_shard(flags_.target_path);
  }
  source.block = kBlock;
  if (shared.max_memory > 0) {
    // A residue of a block takes about four bytes (text, classes, rows), and a few blocks of each
    // file are alive at a time; half of the bound is left to held targets and the aligner.
    source.block.n_residues =
        std::clamp<std::uint64_t>(shared.max_memory / 64, 1u << 16, source.block.n_residues);
    source.block.n_bytes = 2 * source.block.n_residues;
    // A few dozens of chunks are alive.
    source.chunk_bytes = std::clamp<std::uint64_t>(shared.max_memory / 256, 1u << 16,
                                                   io::SequenceReader::kChunkBytes);
    source.max_target_residues = shared.max_memory / 4;
    source.max_target_bytes = target_bytes();
  }
  return source;
}

// Share of --max-memory of the targets' text and places, and again of the list of a SAM header.
std::uint64_t AlignRun::target_bytes() const {
  return flags_.shared.max_memory > 0 ? flags_.shared.max_memory / 4 : UINT64_MAX;
}

void AlignRun::choose() {
  const SharedFlags& shared = flags_.shared;
  alphabet_ = choose_alphabet(flags_, reader_);
  selection_ = flags_.selection(alphabet_);
  if (selection_.strand != Strand::forward && alphabet_ == Alphabet::protein)
    throw Error(ErrorCode::usage,
                "--strand reverse and both are for DNA; these are proteins (--alphabet)");
  choose_style();
  warn_of_swapped_files();
  const StageClock device("start/device", 1);
  const AutoDecision decision = decide_device(
      shared.device_request, align_work(reader_, style_.output, selection_, shared.threads));
  if (!device_start_)
    device_start_ = std::make_unique<DeviceStart>(shared.device_request, decision);
  choice_ = device_start_->get();
  if (static_cast<int>(choice_.gpus.size()) < std::min(decision.max_gpus, choice_.n_offered))
    choice_ = choose_device(shared.device_request, decision);
  if (!decision.detail.empty()) log_.detail(decision.detail);
  start_stages_.push_back(device.stop());
  reader_.set_limits(limits());
  log_.info(fmt::format("{} ({}); {}{}", device_text(), choice_.reason,
                        describe_scoring(flags_, alphabet_),
                        selection_.strand == Strand::both ? ", both strands" : ""));
}

void AlignRun::choose_style() {
  style_.format = flags_.row_format;
  if (style_.format == RowFormat::bam && alphabet_ == Alphabet::protein)
    throw Error(ErrorCode::usage,
                "BAM and CRAM hold nucleotides alone; write proteins as SAM (--format sam)");
  style_.options = make_options(flags_, alphabet_);
  style_.output = flags_.output_level;
  style_.tells_strand = selection_.strand != Strand::forward;
  style_.columns = flags_.column_list;
  if (style_.columns.empty())
    style_.columns =
        default_columns(style_.output, style_.tells_strand, flags_.max_evalue.has_value());
  // On the reverse strand the end in the query as given is known by the begin of the path.
  if (style_.tells_strand && style_.output > align::Output::score)
    style_.options.output = align::Output::cigar;
  style_.cigar = flags_.cigar;
  if (flags_.rna) style_.letters = LetterRule(false, "TU");
  style_.seq_letters = {flags_.rna, alphabet_ == Alphabet::protein ? 'X' : 'N'};
  style_.parameters = find_parameters(flags_, alphabet_);
  style_.out_path = flags_.out_path;
  if (flags_.max_evalue && !style_.parameters)
    throw Error(ErrorCode::usage,
                fmt::format("--evalue: no parameters are published for {}; use --preset, other "
                            "gap costs, or --min-score",
                            describe_scoring(flags_, alphabet_)));
  const auto held = reader_.held_targets();
  if (held) style_.database = align::Database{held->n_residues(), held->size()};
  if (style_.format == RowFormat::sam || style_.format == RowFormat::bam) {
    TargetList list(reader_.target_reader().path(), target_bytes());
    if (held)
      list.add(*held);
    else
      list.add_file(flags_.shared.threads);
    style_.targets = list.take();
    io::output::check_target_names(io::input::label_of(reader_.target_reader().path()),
                                   style_.targets);
  }
}

// Reads are the queries, and the genome is the target: the other way round, most of the work is
// wasted on rows that have no use.
void AlignRun::warn_of_swapped_files() {
  constexpr std::uint64_t kManyTargets = 50;  // a query
  constexpr std::uint64_t kTimesAsLong = 20;
  constexpr std::uint64_t kLongQuery = 10000;
  const auto held = reader_.held_targets();
  const io::SequenceBatch& queries = reader_.first_queries();
  if (!held || reader_.one_set() || alphabet_ != Alphabet::dna || queries.empty()) return;
  const std::uint64_t query_length = queries.n_residues() / queries.size();
  if (query_length < kLongQuery || held->size() < kManyTargets * queries.size() ||
      query_length < kTimesAsLong * (held->n_residues() / held->size()))
    return;
  log_.warn(
      fmt::format("QUERY and TARGET look swapped: the sequences of {} have {} bases on "
                  "average, the {} of {} have {}; reads are QUERY, the genome is TARGET",
                  reader_.query_reader().path(), query_length, held->size(),
                  reader_.target_reader().path(), held->n_residues() / held->size()));
}

UnitLimits AlignRun::limits() const {
  const bool search = selection_.search;
  UnitLimits limits =
      choice_.on_gpu() ? (search ? kGpuSearch : kGpuUnit) : (search ? kCpuSearch : kCpuUnit);
  if (flags_.shared.batch > 0) limits = {flags_.shared.batch, UINT64_MAX};
  return limits;
}

pipeline::Size AlignRun::pipeline_size() const {
  // On the CPU a search runs on all threads by itself.
  const int n_gpus = static_cast<int>(choice_.gpus.size());
  const int n_workers = selection_.search && n_gpus == 0 ? 1 : flags_.shared.threads + n_gpus;
  return {n_workers, 2 * n_workers + 2};
}

std::string AlignRun::device_text() const {
  if (!choice_.on_gpu()) {
    const auto n = static_cast<std::uint64_t>(flags_.shared.threads);
    return fmt::format("cpu {}, {}", cpu_isa(), report::counted(n, "threads"));
  }
  return fmt::format("{} x {}", choice_.gpus.size(), choice_.name);
}

void AlignRun::process(AlignSink& sink) {
  const SharedFlags& shared = flags_.shared;
  const bool selects = selection_.search || selection_.by_score();
  backend_.emplace(choice_, shared.device_request.kind == DeviceRequest::Kind::automatic,
                   style_.options, selects && style_.output != align::Output::score,
                   shared.max_device_memory, log_);
  const auto held = reader_.held_targets();
  if (held)
    held_targets_.assign(RecordSpan(held), align::ClassEncoder(style_.options.scoring.class_of));
  if (selection_.search)
    backend_->set_search(held_targets_.view(), search_options(selection_, style_.options));
  compute_.emplace(*backend_, style_, selection_, held ? &held_targets_ : nullptr, reader_,
                   shared.threads);
  const pipeline::Size size = pipeline_size();
  start_stages_.insert(start_stages_.begin(), start_.stop());
  std::vector<WorkItem> items(static_cast<std::size_t>(size.n_in_flight));
  Progress progress("align", shared.progress, shared.quiet);
  times_ = pipeline::run(size, {[&](std::size_t slot) { return reader_.next(items[slot].unit); },
                                [&](std::size_t slot) { compute_->compute(items[slot]); },
                                [&](std::size_t slot) {
                                  WorkItem& item = items[slot];
                                  sink.write(item.rows);
                                  totals_.n_pairs += item.n_pairs;
                                  totals_.n_cells += item.n_cells;
                                  progress.update(item.unit.fraction_done, totals_.n_pairs,
                                                  totals_.n_cells);
                                }});
  totals_.n_rows = sink.finish();
}

}  // namespace biogpu::app
