#include "apps/biogpu/parasail/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "apps/biogpu/align/run.hpp"
#include "apps/biogpu/command_line/command.hpp"
#include "apps/biogpu/run/process_end.hpp"
#include "lib/align/scoring/matrix_file.hpp"
#include "lib/core/auto_device.hpp"
#include "lib/core/error.hpp"
#include "lib/io/output/path_conflicts.hpp"
#include "lib/io/output_file.hpp"
#include "lib/pipeline/pipeline.hpp"
#include "lib/report/counted.hpp"

namespace biogpu::app {
namespace {

constexpr UnitLimits kUnit{4096, 1000000000};

align::Scoring make_scoring(const ParasailFlags& flags) {
  if (flags.matrix.empty() && flags.dna) {
    align::Scoring scoring =
        align::dna_scoring(flags.match, -flags.mismatch, flags.gap_open, flags.gap_extend);
    // With -C only capitals are bases.
    if (flags.case_sensitive)
      for (const unsigned char c : {'a', 'c', 'g', 't'}) scoring.class_of[c] = scoring.class_of[0];
    return scoring;
  }
  const std::string name = flags.matrix.empty() ? "blosum62" : flags.matrix;
  if (const auto matrix = align::built_in_matrix(align::parasail_matrix_name(name)))
    return align::matrix_scoring(*matrix, flags.gap_open, flags.gap_extend);
  align::SubstitutionMatrix matrix = align::read_matrix(name);
  matrix.rest = static_cast<int>(matrix.letters.size()) - 1;  // the last letter, whichever it is
  return align::matrix_scoring(matrix, flags.gap_open, flags.gap_extend, flags.case_sensitive);
}

RowFormat row_format(const ParasailFlags& flags) {
  if (flags.edges || flags.graph) return RowFormat::parasail_edges;
  switch (flags.format) {
    case ParasailFormat::emboss:
      return RowFormat::emboss;
    case ParasailFormat::ssw:
      return RowFormat::ssw;
    case ParasailFormat::sam:
    case ParasailFormat::sam_with_header:
      return RowFormat::parasail_sam;
    case ParasailFormat::csv:
      break;
  }
  return RowFormat::csv;
}

UnitReader::Source source(const ParasailFlags& flags) {
  UnitReader::Source source;
  source.query_path = flags.query_path.empty() ? flags.database_path : flags.query_path;
  if (!flags.query_path.empty()) source.target_path = flags.database_path;
  source.pairing = flags.query_path.empty() ? Pairing::self : Pairing::all;
  source.n_threads = flags.threads;
  return source;
}

void require_own_outputs(const ParasailFlags& flags, std::vector<io::NamedFile> outputs) {
  const bool is_file = !flags.matrix.empty() && align::parasail_matrix_name(flags.matrix).empty();
  outputs.push_back({"-g", flags.out_path});
  io::require_distinct_files(std::vector<io::NamedFile>{{"-f", flags.database_path},
                                                        {"-q", flags.query_path},
                                                        {"-m", is_file ? flags.matrix : ""}},
                             outputs);
}

// Writes the scores of all cells of each pair of the unit as parasail_aligner does for functions
// with _table: a file parasail_<query index>_<target index>.txt in the working directory. item: as
// AlignCompute left it, with its targets in `held`. Throws Error{failed} where a file cannot be
// written.
void write_tables(const ParasailFlags& flags, const WorkItem& item, const align::Options& options,
                  const EncodedSet& held) {
  const WorkUnit& unit = item.unit;
  for (const align::Pair& pair : unit.pairs) {
    const std::string_view query = unit.queries.sequence(pair.query);
    const std::string_view target = unit.targets.sequence(pair.target);
    const std::vector<std::int32_t> scores = align::score_matrix(
        options, item.queries.view().sequence(pair.query), held.view().sequence(pair.target));
    const std::string path = fmt::format("parasail_{}_{}.txt", unit.queries.index(pair.query),
                                         unit.targets.index(pair.target));
    require_own_outputs(flags, {{"the table", path}});
    io::OutputFile out(path, 1);
    std::string line = " ";
    for (const char letter : target) fmt::format_to(std::back_inserter(line), "{:>4}", letter);
    line += '\n';
    out.write(line);
    for (std::size_t i = 0; i < query.size(); ++i) {
      line.assign(1, query[i]);
      for (std::size_t j = 0; j < target.size(); ++j)
        fmt::format_to(std::back_inserter(line), "{:4}", scores[i * target.size() + j]);
      line += '\n';
      out.write(line);
    }
    out.commit();
  }
}

}  // namespace

ParasailRun::ParasailRun(const ParasailFlags& flags)
    : flags_(flags), log_("align parasail", !flags.verbose, flags.verbose), reader_(source(flags)) {
  UnitLimits limits = kUnit;
  if (flags.batch > 0) limits.n_pairs = flags.batch;
  reader_.set_limits(limits);
}

void ParasailRun::run() {
  require_own_outputs(flags_, {});
  choose_style();
  if (flags_.filter) set_filter();
  if (flags_.pairs_only && !flags_.function.trace)
    write_pairs();
  else
    align();
}

void ParasailRun::choose_style() {
  const ParasailFunction& function = flags_.function;
  align::Options& options = style_.options;
  options.mode = function.mode.mode;
  options.free_ends = function.mode.free_ends;
  options.output = function.trace        ? align::Output::cigar
                   : function.statistics ? align::Output::statistics
                                         : align::Output::ends;
  options.scoring = make_scoring(flags_);
  if (function.banded) options.band = flags_.band;
  style_.output = options.output;
  style_.format = row_format(flags_);
  style_.letters = LetterRule(flags_.case_sensitive, flags_.aliases);
  style_.from_zero = true;
  style_.edges = {flags_.min_length, flags_.min_identity, flags_.min_score};
}

void ParasailRun::set_filter() {
  filter_ = std::make_unique<SeedFilter>(
      reader_.held_targets(), static_cast<std::size_t>(flags_.cutoff), flags_.case_sensitive);
  reader_.set_candidates(
      [this](std::string_view text, std::uint64_t query, std::vector<std::uint32_t>& targets) {
        filter_->find(text, has_queries() ? 0 : static_cast<std::uint32_t>(query) + 1, targets);
      });
}

std::string ParasailRun::header() const {
  if (flags_.format != ParasailFormat::sam_with_header || !has_queries()) return {};
  std::string text = "@HD\tVN:1.4\tSO:queryname\n";
  const io::SequenceBatch& targets = *reader_.held_targets();
  for (std::size_t i = 0; i < targets.size(); ++i)
    text += fmt::format("@SQ\tSN:{}\tLN:{}\n", targets.name(i), targets.sequence(i).size());
  return text;
}

// Indices count the database first and the queries after it.
void ParasailRun::write_pairs() {
  io::OutputFile out(flags_.out_path, flags_.threads);
  const std::uint64_t n_before = has_queries() ? reader_.held_targets()->size() : 0;
  WorkUnit unit;
  std::string text;
  while (reader_.next(unit)) {
    text.clear();
    for (const align::Pair& pair : unit.pairs)
      text += fmt::format("{},{}\n", n_before + unit.queries.index(pair.query), pair.target);
    out.write(text);
  }
  if (out.bytes() == 0) throw Error(ErrorCode::failed, "no pairs to write");
  out.commit();
}

void ParasailRun::align() {
  const char* device = std::getenv("BIOGPU_DEVICE");
  const DeviceRequest request =
      parse_device_request(device != nullptr && *device != '\0' ? device : "auto");
  const DeviceChoice choice = choose_device(
      request,
      decide_device(request, align_work(reader_, style_.output, Selection{}, flags_.threads)));
  AlignBackend backend(choice, true, style_.options, false, 0, log_);
  held_targets_.assign(RecordSpan(reader_.held_targets()),
                       align::ClassEncoder(style_.options.scoring.class_of));
  AlignCompute compute(backend, style_, {}, &held_targets_, reader_, flags_.threads);
  io::OutputFile out(flags_.out_path, flags_.threads);
  out.write(header());
  const int n_workers = flags_.threads + static_cast<int>(choice.gpus.size());
  std::vector<WorkItem> items(static_cast<std::size_t>(2 * n_workers + 2));
  std::uint64_t n_pairs = 0;
  std::vector<Edge> edges;
  const pipeline::Times times =
      pipeline::run({n_workers, static_cast<int>(items.size())},
                    {[&](std::size_t slot) { return reader_.next(items[slot].unit); },
                     [&](std::size_t slot) {
                       compute.compute(items[slot]);
                       if (flags_.function.table)
                         write_tables(flags_, items[slot], style_.options, held_targets_);
                     },
                     [&](std::size_t slot) {
                       const WorkItem& item = items[slot];
                       n_pairs += item.n_pairs;
                       edges.insert(edges.end(), item.rows.edges.begin(), item.rows.edges.end());
                       if (!flags_.graph) out.write(item.rows.text);
                     }});
  if (n_pairs == 0)
    throw Error(ErrorCode::failed,
                "no alignment work, either the filter removed all alignments or the input file(s) "
                "were empty");
  if (style_.format == RowFormat::parasail_edges)
    print(fmt::format("{:>20}: {}\n", "edges count", edges.size()));
  if (flags_.graph) out.write(metis_graph(edges, reader_.held_targets()->size()));
  out.commit();
  after_commit([&] {
    log_.detail(report::counted(n_pairs, "pairs"));
    log_.stages(pipeline::stages_of(times));
  });
}

}  // namespace biogpu::app
