#include "apps/biogpu/kmer/sketch_files.hpp"

#include <fmt/format.h>

#include <fstream>
#include <memory>

#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/run/log.hpp"
#include "lib/core/error.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/io/sequence_reader.hpp"
#include "lib/pipeline/pipeline.hpp"

namespace biogpu::app {
namespace {

constexpr io::BatchLimits kSketchBatch{65536, 1u << 20};

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

}  // namespace

kmer::Sketch sketch_file(const std::string& path, const SketchFlags& flags) {
  struct SketchedBatch {
    io::SequenceBatch batch;
    std::unique_ptr<kmer::Sketcher> sketcher;
  };
  io::SequenceReader reader(path, flags.threads);
  const auto overlap = static_cast<std::size_t>(flags.options.k - 1);
  reader.split_records(kSketchBatch.n_residues, overlap);
  kmer::Sketcher all(flags.options);
  std::vector<SketchedBatch> items(static_cast<std::size_t>(flags.threads) + 2);
  pipeline::run({flags.threads, static_cast<int>(items.size())},
                {[&](std::size_t slot) { return reader.read_any(items[slot].batch, kSketchBatch); },
                 [&](std::size_t slot) {
                   SketchedBatch& item = items[slot];
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

void warn_of_empty_sketches(const char* command, const std::vector<kmer::Sketch>& sketches, int k) {
  Log log(command, false, false);
  for (const kmer::Sketch& sketch : sketches)
    if (sketch.hashes.empty())
      log.warn(
          fmt::format("{}: has no k-mer of {} bases, so that its sketch is empty: every record "
                      "is shorter or broken by other letters than ACGT",
                      sketch.name, k));
}

std::vector<kmer::Sketch> load_sketches(const std::string& path, SketchFlags& flags, bool& fixed) {
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

}  // namespace biogpu::app
