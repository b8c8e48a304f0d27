#include "apps/biogpu/kmer/sketch_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "apps/biogpu/command_line/shared_flags.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/run/log.hpp"
#include "lib/core/error.hpp"
#include "lib/io/file_kind.hpp"
#include "lib/io/input/byte_order_mark.hpp"
#include "lib/io/sequence_reader.hpp"
#include "lib/pipeline/pipeline.hpp"

namespace biogpu::app {
namespace {

using io::input::without_mark;

constexpr io::BatchLimits kSketchBatch{65536, 1u << 20};

std::string read_text(io::input::RawFile& file) {
  constexpr std::size_t kStep = 1u << 20;
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

SketchInput::SketchInput(const std::string& path)
    : path_(path),
      file_(std::make_unique<io::input::RawFile>(path)),
      has_sketches_(without_mark(file_->peek(4), io::input::label_of(path)).starts_with('{')) {
  if (!io::passes_once(path_)) file_.reset();  // many may be open otherwise
}
std::unique_ptr<io::input::RawFile> SketchInput::take_file() {
  return file_ ? std::move(file_) : std::make_unique<io::input::RawFile>(path_);
}

SketchInput::~SketchInput() = default;
SketchInput::SketchInput(SketchInput&&) noexcept = default;

kmer::Sketch SketchInput::sketch(const SketchFlags& flags) {
  struct SketchedBatch {
    io::SequenceBatch batch;
    std::unique_ptr<kmer::Sketcher> sketcher;
    std::size_t longest = 0;
  };
  io::SequenceReader reader(take_file(), flags.threads);
  const auto overlap = static_cast<std::size_t>(flags.options.k - 1);
  reader.split_records(kSketchBatch.n_residues, overlap);
  kmer::Sketcher all(flags.options);
  std::size_t longest = 0;
  std::vector<SketchedBatch> items(static_cast<std::size_t>(flags.threads) + 2);
  pipeline::run({flags.threads, static_cast<int>(items.size())},
                {[&](std::size_t slot) { return reader.read_any(items[slot].batch, kSketchBatch); },
                 [&](std::size_t slot) {
                   SketchedBatch& item = items[slot];
                   item.sketcher = std::make_unique<kmer::Sketcher>(flags.options);
                   item.longest = 0;
                   for (std::size_t i = 0; i < item.batch.size(); ++i) {
                     item.sketcher->add(item.batch.sequence(i));
                     item.longest = std::max(item.longest, item.batch.sequence(i).size());
                   }
                 },
                 [&](std::size_t slot) {
                   all.add(*items[slot].sketcher);
                   longest = std::max(longest, items[slot].longest);
                 }});
  // Two such files would have distance 0 with any contents.
  if (longest <= overlap)
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: no record has {} letters, the k of the sketch; expected longer "
                            "sequences or a smaller -k",
                            io::input::label_of(path_), flags.options.k));
  return all.finish(path_, reader.n_residues());
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

std::vector<kmer::Sketch> SketchInput::read(SketchFlags& flags, bool& fixed) {
  kmer::SketchOptions options;
  const std::string label = io::input::label_of(path_);
  const std::string text = read_text(*take_file());
  std::vector<kmer::Sketch> sketches =
      kmer::parse_sketches(std::string(without_mark(text, label)), label, options);
  if (fixed && (options.k != flags.options.k || options.size != flags.options.size ||
                options.seed != flags.options.seed))
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: has k {}, size {}, seed {}; expected {}, {}, {}", label, options.k,
                            options.size, options.seed, flags.options.k, flags.options.size,
                            flags.options.seed));
  flags.options = options;
  fixed = true;
  return sketches;
}

void add_sketch_flags(CLI::App& command, SketchFlags& flags) {
  command.add_option("-k,--kmer", flags.options.k, "set the length of the k-mers, in letters [21]")
      ->transform(in_range(1, kmer::kMaxSketchK))
      ->option_text("N");
  command
      .add_option("-s,--size", flags.options.size,
                  "keep N hashes in a sketch; more make distances more exact [1000]")
      ->transform(in_range(std::size_t{1}, kmer::kMaxSketchSize))
      ->option_text("N");
  command
      .add_option("-S,--seed", flags.options.seed,
                  "set the seed of the hash function, equal in sketches that are compared [42]")
      ->transform(in_range(std::uint32_t{0}, UINT32_MAX))
      ->option_text("N");
  command
      .add_option("-o,--output", flags.out_path,
                  "write the result to this file [-, standard output]")
      ->option_text("FILE");
  add_threads_flag(command, flags.threads);
}

}  // namespace biogpu::app
