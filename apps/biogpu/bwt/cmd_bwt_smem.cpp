#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/biogpu/bwt/command.hpp"
#include "apps/biogpu/bwt/queries.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/run/process_end.hpp"
#include "lib/bwt/smem/smem_search.hpp"
#include "lib/core/error.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/output_file.hpp"
#include "lib/io/sequence_reader.hpp"
#include "lib/pipeline/pipeline.hpp"
#include "lib/report/counted.hpp"

namespace biogpu::app {
namespace {

struct SmemFlags {
  SharedFlags shared;
  std::vector<std::string> arguments;  // the queries, before them the index without -x
  std::string prefix;
  std::string query_path;
  io::Shard shard;  // of the queries
  std::string out_path = "-";
  std::uint32_t min_length = 17;
  std::uint64_t max_places = 20;
  bool print_sequence = false;
};

struct SmemItem {
  io::SequenceBatch batch;
  bwt::SmemQueries queries;
  bwt::SmemMatches found;
  std::string text;
};

constexpr char kBwtSmemFooter[] =
    "The arguments and the output are those of 'bwa fastmap': for each query a line SQ with its\n"
    "name and length, lines EM with begin, end, number of places and the places, and a line //.\n\n"
    "Examples:\n"
    "  biogpu bwt index --format bwa -p prefix genome.fa\n"
    "  biogpu bwt smem prefix reads.fq.gz -o matches.txt\n\n";

void append_number(std::string& text, std::int64_t number) {
  char digits[20];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void append_match(const bwt::BwaFm& index, const SmemFlags& flags,
                  const bwt::SmemMatches::Match& match, std::span<const std::uint64_t> positions,
                  std::string& text) {
  text += "EM";
  for (const std::uint64_t number :
       {std::uint64_t{match.begin}, std::uint64_t{match.end}, match.n_places}) {
    text += '\t';
    append_number(text, static_cast<std::int64_t>(number));
  }
  if (match.n_places > flags.max_places) {
    text += "\t*\n\n";  // bwa ends this line twice
    return;
  }
  for (const std::uint64_t position : positions) {
    const bwt::BwaFm::Place place = index.place(position, match.end - match.begin);
    text += '\t';
    text += place.contig;
    text += place.reverse ? ":-" : ":+";
    append_number(text, place.begin + 1);
  }
  text += '\n';
}

void find_matches(const bwt::BwaFm& index, const bwt::BwaKmers& kmers, const SmemFlags& flags,
                  SmemItem& item) {
  item.queries.clear();
  for (std::size_t query = 0; query < item.batch.size(); ++query)
    item.queries.append(item.batch.sequence(query));
  bwt::find_smems(index, kmers, {flags.min_length, flags.max_places}, item.queries, item.found);
  item.text.clear();
  for (std::size_t query = 0; query < item.batch.size(); ++query) {
    const std::string_view letters = item.batch.sequence(query);
    item.text.append("SQ\t").append(item.batch.name(query)).append("\t");
    append_number(item.text, static_cast<std::int64_t>(letters.size()));
    if (flags.print_sequence) item.text.append("\t").append(letters);
    item.text += '\n';
    const bwt::SmemMatches::Range range = item.found.of_query[query];
    for (std::size_t m = range.first; m < range.first + range.n; ++m) {
      const bwt::SmemMatches::Match& match = item.found.matches[m];
      const std::uint64_t n = match.n_places > flags.max_places ? 0 : match.n_places;
      append_match(index, flags, match,
                   std::span(item.found.positions).subspan(match.first_position, n), item.text);
    }
    item.text += "//\n";
  }
}

void run_smem(const SmemFlags& flags, const std::string& command_line) {
  Log log("bwt smem", flags.shared.quiet, flags.shared.verbose);
  BwtReport report;
  const StageClock start("start", flags.shared.threads);
  report.device = choose_device(flags.shared.device_request, false, 1);
  const bwt::BwaFm index(flags.prefix, flags.shared.threads);
  const bwt::BwaKmers kmers(index, flags.shared.threads);
  io::SequenceReader reader = io::open_shard(flags.query_path, flags.shard, flags.shared.threads);
  SummaryFile summary(flags.shared);
  io::OutputFile out(flags.out_path, flags.shared.threads);
  const io::BatchLimits limits{flags.shared.batch != 0 ? flags.shared.batch : 4096, 1u << 20};
  std::vector<SmemItem> items(static_cast<std::size_t>(2 * flags.shared.threads + 2));
  std::uint64_t n_matches = 0;
  Progress progress("bwt smem", flags.shared.progress, flags.shared.quiet);
  std::uint64_t n_queries = 0;
  report.stages.push_back(start.stop());
  const pipeline::Times times =
      pipeline::run({flags.shared.threads, static_cast<int>(items.size())},
                    {[&](std::size_t slot) {
                       io::SequenceBatch& batch = items[slot].batch;
                       return flags.shared.batch == 0 ? reader.read_any(batch, limits)
                                                      : reader.read(batch, limits);
                     },
                     [&](std::size_t slot) { find_matches(index, kmers, flags, items[slot]); },
                     [&](std::size_t slot) {
                       out.write(items[slot].text);
                       n_matches += items[slot].found.matches.size();
                       n_queries += items[slot].batch.size();
                       update_progress(progress, reader, n_queries);
                     }});
  progress.clear();
  report.inputs = {{flags.query_path, reader.file_bytes(), reader.n_records()}};
  report.outputs = {{flags.out_path, out.bytes()}};
  report.read_s = times.read_s;
  report.compute_s = times.compute_s;
  report.write_s = times.write_s;
  const auto stages = search_stages(times, reader.compressed_bytes(), out.bytes());
  report.stages.insert(report.stages.end(), stages.begin(), stages.end());
  report.result = {{"queries", reader.n_records()}, {"matches", n_matches}};
  write_bwt_summary(summary, flags.shared, command_line, log, report);
  const io::CommitGuard guard;
  out.commit();
  summary.commit();
  after_commit([&] {
    log.stages(report.stages);
    log.info(fmt::format("{}, {} in {:.2f} s", report::counted(reader.n_records(), "queries"),
                         report::counted(n_matches, "matches"), log.seconds()));
  });
}

// PREFIX QUERIES, as bwa fastmap takes them, or -x PREFIX QUERIES; the index is PREFIX.64.bwt,
// where that is there, or PREFIX.bwt.
void resolve_files(SmemFlags& flags) {
  take_index_and_queries(flags.arguments, "smem", flags.prefix, flags.query_path);
  const auto is_there = [&](const char* suffix) {
    return ::access((flags.prefix + suffix).c_str(), F_OK) == 0;
  };
  if (is_there(".64.bwt")) {
    flags.prefix += ".64";
  } else if (!is_there(".bwt")) {
    const std::string file = flags.prefix + ".bwt";
    if (is_there(".bgfm"))
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: is not there, only the native index; make it with 'biogpu bwt "
                              "index --format bwa'",
                              file));
    throw Error(
        ErrorCode::bad_input,
        fmt::format("{}: no index of that name; make it with 'biogpu bwt index --format bwa'",
                    file));
  }
}

}  // namespace

Run add_bwt_smem(CLI::App& command) {
  const auto flags = std::make_shared<SmemFlags>();
  command
      .add_option("queries", flags->arguments,
                  "FASTA, FASTQ, SAM, BAM or CRAM file of the queries, - is standard input; "
                  "without -x the index comes first")
      ->required()
      ->expected(1, 2)
      ->option_text("[PREFIX] QUERIES");
  command
      .add_option("-x,--index", flags->prefix,
                  "search this index, which bwa or 'bwt index --format bwa' made")
      ->option_text("PREFIX");
  command
      .add_option("-o,--output", flags->out_path,
                  "write the matches to this file, compressed where its name ends in .gz [-, "
                  "standard output]")
      ->check(text_name())
      ->option_text("FILE");
  command
      .add_option("-l,--min-length", flags->min_length, "write matches of at least N letters [17]")
      ->transform(in_range(1, 1 << 30))
      ->option_text("N");
  command
      .add_option("-w,--max-places", flags->max_places,
                  "write at most N places of a match, or * for more [20]")
      ->transform(in_range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
      ->option_text("N");
  command.add_flag("-p,--print-sequence", flags->print_sequence, "add the query to its line SQ")
      ->option_text(" ");
  add_shared_flags(command, flags->shared);
  remove_flags(command, {"--max-memory", "--max-device-memory"});
  command.get_option("--batch")->description("search at most N queries in one batch [4096]");
  add_shard_flag(command, flags->shard, "search part I of N of the queries; 'cat' joins parts");
  command.footer(std::string(kBwtSmemFooter) + kExitCodes);
  return [flags](const std::string& command_line) {
    resolve_files(*flags);
    flags->shared.require_own_outputs({{"QUERIES", flags->query_path},
                                       {"the index", flags->prefix + ".bwt"},
                                       {"the index", flags->prefix + ".sa"},
                                       {"the index", flags->prefix + ".ann"},
                                       {"the index", flags->prefix + ".amb"},
                                       {"the index", flags->prefix + ".pac"}},
                                      {{"--output", flags->out_path}});
    flags->shared.resolve();
    run_smem(*flags, command_line);
  };
}

}  // namespace biogpu::app
