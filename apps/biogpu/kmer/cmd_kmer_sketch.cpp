// `biogpu kmer sketch`: MinHash sketches of sequence files.
#include <memory>
#include <string>
#include <vector>

#include "apps/biogpu/kmer/commands.hpp"
#include "apps/biogpu/kmer/sketch_files.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {
namespace {

void run_sketch(const SketchFlags& flags) {
  check_files(flags.paths, flags.out_path);
  require_plain_name(flags.out_path, {"json", "txt"});
  std::vector<kmer::Sketch> sketches;
  for (const std::string& path : flags.paths) sketches.push_back(SketchInput(path).sketch(flags));
  warn_of_empty_sketches("kmer sketch", sketches, flags.options.k);
  io::OutputFile out(flags.out_path);
  out.write(kmer::sketches_as_json(sketches, flags.options));
  out.commit();
}

}  // namespace

Run add_kmer_sketch(CLI::App& command) {
  const auto flags = std::make_shared<SketchFlags>();
  command.add_option("FILE", flags->paths, "sequence files, each of which gives one sketch")
      ->required()
      ->option_text(" ");
  add_sketch_flags(command, *flags);
  command.footer(std::string("Hashes are Mash's.\n\n"
                             "Examples:\n"
                             "  biogpu kmer sketch -o genomes.json a.fa b.fa c.fa\n\n") +
                 kExitCodes);
  return [flags](const std::string&) { run_sketch(*flags); };
}

}  // namespace biogpu::app
