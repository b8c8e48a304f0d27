#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "apps/biogpu/align_backend.hpp"
#include "apps/biogpu/align_flags.hpp"
#include "apps/biogpu/align_rows.hpp"
#include "apps/biogpu/align_units.hpp"
#include "apps/biogpu/command.hpp"
#include "apps/biogpu/log.hpp"
#include "lib/io/output_file.hpp"
#include "lib/pipeline/pipeline.hpp"
#include "lib/report/json_summary.hpp"

namespace biogpu::app {
namespace {

// Below this many cells a GPU's start-up costs more than the CPU's whole run.
constexpr double kCellsWorthGpu = 2e10;

constexpr UnitLimits kCpuUnit{4096, 1000000000};
constexpr UnitLimits kGpuUnit{262144, 100000000000};
constexpr io::BatchLimits kCpuBlock{65536, 16u << 20};
constexpr io::BatchLimits kGpuBlock{262144, 64u << 20};

constexpr char kFooter[] =
    "TSV positions are 0-based and half-open. A semi-global CIGAR holds the free end gaps too; "
    "the\n"
    "positions leave them out.\n\n"
    "Examples:\n"
    "  biogpu align --mode sw --pairs --match 2 --mismatch -3 reads.fq.gz windows.fa -o out.tsv\n"
    "  biogpu align --mode nw --matrix blosum62 proteins.fa targets.fa --format sam | less\n\n";

// One unit with all that its workers need, reused for a later one.
struct Item {
  Unit unit;
  EncodedSet queries;
  EncodedSet targets;
  Rows rows;
  std::uint64_t n_cells = 0;
};

// Counts of what was written; touched by the writer alone.
struct Totals {
  std::uint64_t n_pairs = 0;
  std::uint64_t n_cells = 0;
};

// Where rows go: a TSV or a SAM, BAM or CRAM file.
class Sink {
 public:
  Sink(const AlignFlags& flags, const align::Options& options, const UnitReader& reader,
       const std::string& command_line) {
    const int n_threads = flags.shared.threads;
    if (flags.row_format() == RowFormat::tsv) {
      text_.emplace(flags.out_path, n_threads);
      text_->write(tsv_header(options.output));
      return;
    }
    const auto held = reader.held_targets();
    sam_.emplace(flags.out_path,
                 held ? list_targets(*held) : list_targets(flags.target_path, n_threads),
                 command_line, n_threads);
  }

  bool is_sam() const { return sam_.has_value(); }

  void write(const Rows& rows) {
    if (text_) text_->write(rows.text);
    if (sam_)
      for (const io::SamRecord& record : rows.records) sam_->write(record);
  }

  void commit() {
    if (text_) text_->commit();
    if (sam_) sam_->commit();
  }

  std::uint64_t bytes() const { return text_ ? text_->bytes() : 0; }

 private:
  std::optional<io::OutputFile> text_;
  std::optional<io::SamWriter> sam_;
};

class AlignRun {
 public:
  AlignRun(const AlignFlags& flags, std::string command_line)
      : flags_(flags),
        command_line_(std::move(command_line)),
        log_("align", flags.shared.quiet, flags.shared.verbose),
        reader_(source()) {}

  void run() {
    choose();
    Sink sink(flags_, options_, reader_, command_line_);
    process(sink);
    sink.commit();
    const double wall_s = log_.seconds();
    try {
      log_summary(wall_s);
    } catch (const std::bad_alloc&) {
      // The result is whole and has its name: no memory to speak of it is no reason to fail.
    }
    if (!flags_.shared.json.empty()) write_json(sink, wall_s);
  }

 private:
  bool may_use_gpu() const { return flags_.shared.device_request.kind != DeviceRequest::Kind::cpu; }

  UnitReader::Source source() const {
    const SharedFlags& shared = flags_.shared;
    UnitReader::Source source;
    source.query_path = flags_.query_path;
    source.target_path = flags_.target_path;
    source.pairs = flags_.pairs;
    source.n_threads = shared.threads;
    source.block = may_use_gpu() ? kGpuBlock : kCpuBlock;
    if (shared.max_memory > 0) {
      // A residue of a block takes about four bytes (text, classes, rows), and a few blocks of each
      // file are alive at a time; half of the bound is left to held targets and the aligner.
      source.block.n_residues =
          std::clamp<std::uint64_t>(shared.max_memory / 64, 1u << 16, source.block.n_residues);
      source.max_target_residues = shared.max_memory / 4;
    }
    return source;
  }

  void choose() {
    const SharedFlags& shared = flags_.shared;
    alphabet_ = flags_.stated_alphabet();
    if (alphabet_ == Alphabet::automatic) alphabet_ = guess_alphabet(reader_.first_queries());
    options_ = make_options(flags_, alphabet_);
    choice_ = choose_device(shared.device_request, reader_.estimated_cells() >= kCellsWorthGpu);
    UnitLimits limits = choice_.on_gpu() ? kGpuUnit : kCpuUnit;
    if (shared.batch > 0) limits = {shared.batch, UINT64_MAX};
    reader_.set_limits(limits);
    log_.info(fmt::format("{} ({}); {}", device_text(), choice_.reason,
                          describe_scoring(flags_, alphabet_)));
  }

  std::string device_text() const {
    if (!choice_.on_gpu())
      return fmt::format("cpu {}, {} threads", align::cpu_isa(), flags_.shared.threads);
    return fmt::format("{} x {}", choice_.gpus.size(), choice_.name);
  }

  void process(Sink& sink) {
    const SharedFlags& shared = flags_.shared;
    backend_.emplace(choice_, shared.device_request.kind == DeviceRequest::Kind::automatic,
                     options_, shared.max_device_memory, log_);
    const auto held = reader_.held_targets();
    if (held) held_targets_.assign(*held, 0, held->size(), options_.scoring);
    const int n_workers = shared.threads + static_cast<int>(choice_.gpus.size());
    std::vector<Item> items(static_cast<std::size_t>(2 * n_workers + 2));
    Progress progress("align", shared.progress, shared.quiet);
    times_ = pipeline::run(
        {n_workers, static_cast<int>(items.size())},
        {[&](std::size_t slot) { return reader_.next(items[slot].unit); },
         [&](std::size_t slot) { compute(items[slot], held != nullptr, sink.is_sam()); },
         [&](std::size_t slot) {
           const Item& item = items[slot];
           sink.write(item.rows);
           totals_.n_pairs += item.unit.pairs.size();
           totals_.n_cells += item.n_cells;
           progress.update(item.unit.fraction_read, totals_.n_pairs, totals_.n_cells);
         }});
  }

  void compute(Item& item, bool held, bool sam) {
    const Unit& unit = item.unit;
    item.queries.assign(*unit.queries, unit.query_begin, unit.n_queries, options_.scoring);
    if (!held)
      item.targets.assign(*unit.targets, unit.target_begin, unit.n_targets, options_.scoring);
    const align::Work work{item.queries.view(), (held ? held_targets_ : item.targets).view(),
                           unit.pairs};
    item.n_cells = align::count_cells(work);
    const align::Alignments alignments = backend_->align(work);
    (sam ? make_sam : make_tsv)(unit, alignments, options_, item.rows);
  }

  void log_summary(double wall_s) {
    if (totals_.n_pairs == 0)
      log_.warn(fmt::format("no pairs: {} has {} records, {} has {}", flags_.query_path,
                            reader_.query_reader().n_records(), flags_.target_path,
                            reader_.target_reader().n_records()));
    log_.detail(fmt::format(
        "read {:.2f} s, compute {:.2f} s over all threads (GPU {:.2f} s), write {:.2f} s",
        times_.read_s, times_.compute_s, backend_->device_seconds(), times_.write_s));
    const auto n_cells = static_cast<double>(totals_.n_cells);
    log_.info(fmt::format(
        "{} queries, {} targets, {} pairs, {:.3g} cells in {:.2f} s: {:.2f} GCUPS on {}",
        reader_.query_reader().n_records(), reader_.target_reader().n_records(), totals_.n_pairs,
        n_cells, wall_s, 1e-9 * n_cells / wall_s, device_text()));
  }

  void write_json(const Sink& sink, double wall_s) {
    report::RunSummary run;
    run.git = BIOGPU_GIT;
    run.backend = gpu_backend_name();
    run.cpu_isa = align::cpu_isa();
    run.command = command_line_;
    for (const io::SequenceReader* file : {&reader_.query_reader(), &reader_.target_reader()})
      run.inputs.push_back({file->path(), file->file_bytes(), file->n_records()});
    run.outputs.push_back({flags_.out_path, sink.bytes()});
    run.device_requested = flags_.shared.device;
    run.device_used =
        choice_.on_gpu() ? fmt::format("gpu:{}", fmt::join(choice_.gpus, ",")) : "cpu";
    if (backend_->fell_back()) run.device_used += ",cpu";
    run.device_name = choice_.name;
    run.device_reason = choice_.reason;
    run.wall_s = wall_s;
    run.gpu_s = backend_->device_seconds();
    run.read_s = times_.read_s;
    run.compute_s = times_.compute_s;
    run.write_s = times_.write_s;
    run.peak_device_bytes = backend_->peak_device_bytes();
    run.result = {{"mode", flags_.mode},
                  {"alphabet", alphabet_ == Alphabet::dna ? "dna" : "protein"},
                  {"gap_open", options_.scoring.gap_open},
                  {"gap_extend", options_.scoring.gap_extend},
                  {"pairs", totals_.n_pairs},
                  {"cells", totals_.n_cells},
                  {"gcups", 1e-9 * static_cast<double>(totals_.n_cells) / wall_s}};
    run.warnings = log_.warnings();
    io::OutputFile file(flags_.shared.json);
    file.write(report::json_summary(run));
    file.commit();
  }

  const AlignFlags& flags_;
  const std::string command_line_;
  Log log_;
  UnitReader reader_;
  Alphabet alphabet_ = Alphabet::dna;
  align::Options options_;
  DeviceChoice choice_;
  std::optional<AlignBackend> backend_;
  EncodedSet held_targets_;
  pipeline::Times times_;
  Totals totals_;
};

}  // namespace

Run add_align(CLI::App& command) {
  const auto flags = std::make_shared<AlignFlags>();
  add_align_flags(command, *flags);
  command.footer(std::string(kFooter) + kExitCodes);
  return [flags](const std::string& command_line) {
    flags->resolve();
    AlignRun(*flags, command_line).run();
  };
}

}  // namespace biogpu::app
