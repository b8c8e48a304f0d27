// `biogpu kmer dist`: distances between MinHash sketches, as Mash reports them.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/kmer/commands.hpp"
#include "apps/biogpu/kmer/sketch_files.hpp"
#include "lib/core/error.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {
namespace {

void run_dist(SketchFlags flags) {
  if (flags.paths.size() < 2)
    throw Error(ErrorCode::usage, "expected a reference and at least one query");
  check_files(flags.paths, flags.out_path);
  std::vector<SketchInput> inputs;
  for (const std::string& path : flags.paths) inputs.emplace_back(path);
  // Sketch files first: they tell with which options sequences are to be sketched.
  bool fixed = false;
  std::vector<std::vector<kmer::Sketch>> read(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].has_sketches()) read[i] = inputs[i].read(flags, fixed);
  const auto sketches_of = [&](std::size_t i) {
    if (!inputs[i].has_sketches()) read[i] = {inputs[i].sketch(flags)};
    warn_of_empty_sketches("kmer dist", read[i], flags.options.k);
    return std::move(read[i]);
  };
  const std::vector<kmer::Sketch> references = sketches_of(0);
  io::OutputFile out(flags.out_path);
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const std::vector<kmer::Sketch> queries = sketches_of(i);
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

}  // namespace

Run add_kmer_dist(CLI::App& command) {
  const auto flags = std::make_shared<SketchFlags>();
  command
      .add_option("FILE", flags->paths,
                  "sketch files or sequence files; the first is the reference")
      ->required()
      ->option_text(" ");
  add_sketch_flags(command, *flags);
  command.get_option("--output")->check(text_name());
  command
      .add_flag("--containment", flags->containment,
                "add a sixth column: the share of the query's hashes that the reference has")
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
