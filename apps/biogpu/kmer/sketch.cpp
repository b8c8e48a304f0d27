// `biogpu kmer sketch` and `biogpu kmer dist`.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/kmer/commands.hpp"
#include "apps/biogpu/run/log.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/io/output_file.hpp"
#include "lib/io/sequence_reader.hpp"
#include "lib/kmer/sketch.hpp"
#include "lib/pipeline/pipeline.hpp"

namespace biogpu::app {
namespace {

constexpr io::BatchLimits kSketchBatch{65536, 1u << 20};

struct SketchFlags {
  std::vector<std::string> paths;
  std::string out_path = "-";
  kmer::SketchOptions options;
  int threads = 1;
  bool containment = false;
};

kmer::Sketch sketch_file(const std::string& path, const SketchFlags& flags) {
  struct Item {
    io::SequenceBatch batch;
    std::unique_ptr<kmer::Sketcher> sketcher;
  };
  io::SequenceReader reader(path, flags.threads);
  const auto overlap = static_cast<std::size_t>(flags.options.k - 1);
  reader.split_records(kSketchBatch.n_residues, overlap);
  kmer::Sketcher all(flags.options);
  std::vector<Item> items(static_cast<std::size_t>(flags.threads) + 2);
  pipeline::run({flags.threads, static_cast<int>(items.size())},
                {[&](std::size_t slot) { return reader.read_any(items[slot].batch, kSketchBatch); },
                 [&](std::size_t slot) {
                   Item& item = items[slot];
                   item.sketcher = std::make_unique<kmer::Sketcher>(flags.options);
                   for (std::size_t i = 0; i < item.batch.size(); ++i)
                     item.sketcher->add(item.batch.sequence(i));
                 },
                 [&](std::size_t slot) { all.add(*items[slot].sketcher); }});
  return all.finish(path, reader.n_residues());
}

bool is_sketch_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return path != "-" && file.get() == '{';
}

std::string read_text(const std::string& path) {
  constexpr std::size_t kStep = 1u << 20;
  io::input::RawFile file(path);
  std::string text;
  for (std::size_t got = kStep; got == kStep;) {
    const std::size_t before = text.size();
    text.resize(before + kStep);
    got = file.read(text.data() + before, kStep);
    text.resize(before + got);
  }
  return text;
}

constexpr std::size_t kMaxShownName = 200;

// Two sketches without hashes have distance 0 even where their sequences differ: warn.
void warn_of_empty(const char* command, const std::vector<kmer::Sketch>& sketches, int k) {
  Log log(command, false, false);
  for (const kmer::Sketch& sketch : sketches)
    if (sketch.hashes.empty())
      log.warn(
          fmt::format("{}: has no k-mer of {} bases, so that its sketch is empty: every record "
                      "is shorter or broken by other letters than ACGT",
                      sketch.name, k));
}

// The sketches of a sketch file, or the one of a sequence file.
std::vector<kmer::Sketch> load(const std::string& path, SketchFlags& flags, bool& fixed) {
  if (!is_sketch_file(path)) return {sketch_file(path, flags)};
  kmer::SketchOptions options;
  std::vector<kmer::Sketch> sketches = kmer::parse_sketches(read_text(path), path, options);
  if (fixed && (options.k != flags.options.k || options.size != flags.options.size ||
                options.seed != flags.options.seed))
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: has k {}, size {}, seed {}; expected {}, {}, {}", path, options.k,
                            options.size, options.seed, flags.options.k, flags.options.size,
                            flags.options.seed));
  flags.options = options;
  fixed = true;
  return sketches;
}

void run_sketch(const SketchFlags& flags) {
  check_files(flags.paths, flags.out_path);
  require_plain_name(flags.out_path);
  std::vector<kmer::Sketch> sketches;
  for (const std::string& path : flags.paths) sketches.push_back(sketch_file(path, flags));
  warn_of_empty("kmer sketch", sketches, flags.options.k);
  io::OutputFile out(flags.out_path);
  out.write(kmer::sketches_as_json(sketches, flags.options));
  out.commit();
}

void run_dist(SketchFlags flags) {
  if (flags.paths.size() < 2)
    throw Error(ErrorCode::usage, "expected a reference and at least one query");
  check_files(flags.paths, flags.out_path);
  bool fixed = false;
  // Sketch files first: they tell with which options sequences are to be sketched.
  for (const std::string& path : flags.paths)
    if (is_sketch_file(path)) load(path, flags, fixed);
  const std::vector<kmer::Sketch> references = load(flags.paths[0], flags, fixed);
  warn_of_empty("kmer dist", references, flags.options.k);
  io::OutputFile out(flags.out_path);
  for (std::size_t i = 1; i < flags.paths.size(); ++i) {
    const std::vector<kmer::Sketch> queries = load(flags.paths[i], flags, fixed);
    warn_of_empty("kmer dist", queries, flags.options.k);
    for (const kmer::Sketch& query : queries)
      for (const kmer::Sketch& reference : references) {
        const kmer::SketchDistance d = kmer::compare(reference, query, flags.options);
        out.write(fmt::format("{}\t{}\t{:g}\t{:g}\t{}/{}", reference.name, query.name, d.distance,
                              d.p_value, d.n_common, d.n_compared));
        out.write(flags.containment ? fmt::format("\t{:g}\n", d.containment) : "\n");
      }
  }
  out.commit();
}

void add_sketch_flags(CLI::App& command, SketchFlags& flags) {
  command.add_option("-k,--kmer", flags.options.k, "length of the k-mers [21]")
      ->transform(in_range(1, kmer::kMaxSketchK))
      ->option_text("N");
  command.add_option("-s,--size", flags.options.size, "hashes in a sketch [1000]")
      ->transform(in_range(std::size_t{1}, kmer::kMaxSketchSize))
      ->option_text("N");
  command.add_option("-S,--seed", flags.options.seed, "of the hash function [42]")
      ->transform(in_range(std::uint32_t{0}, UINT32_MAX))
      ->option_text("N");
  command.add_option("-o,--output", flags.out_path, "[-, stdout]")->option_text("FILE");
  command.add_option("-t,--threads", flags.threads, "CPU threads [1]")
      ->transform(in_range(1, 1024))
      ->option_text("N");
}

}  // namespace

Run add_kmer_sketch(CLI::App& command) {
  const auto flags = std::make_shared<SketchFlags>();
  command.add_option("FILE", flags->paths, "sequence files, a sketch each")
      ->required()
      ->option_text(" ");
  add_sketch_flags(command, *flags);
  command.footer(std::string("Hashes are Mash's.\n\n"
                             "Examples:\n"
                             "  biogpu kmer sketch -o genomes.json a.fa b.fa c.fa\n\n") +
                 kExitCodes);
  return [flags](const std::string&) { run_sketch(*flags); };
}

Run add_kmer_dist(CLI::App& command) {
  const auto flags = std::make_shared<SketchFlags>();
  command
      .add_option("FILE", flags->paths,
                  "sketch files or sequence files; the first is the reference")
      ->required()
      ->option_text(" ");
  add_sketch_flags(command, *flags);
  command
      .add_flag("--containment", flags->containment,
                "a sixth column: the share of the query's hashes that the reference has")
      ->option_text(" ");
  command.footer(std::string("Columns: reference, query, distance, p-value, common hashes of those "
                             "compared, as 'mash dist'\nprints them.\n\n"
                             "Examples:\n"
                             "  biogpu kmer sketch -o genomes.json a.fa b.fa c.fa\n"
                             "  biogpu kmer dist genomes.json query.fa\n\n") +
                 kExitCodes);
  return [flags](const std::string&) { run_dist(*flags); };
}

}  // namespace biogpu::app
