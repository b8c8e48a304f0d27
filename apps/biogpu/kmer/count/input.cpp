#include "apps/biogpu/kmer/count/input.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/kmer/count/generators.hpp"
#include "apps/biogpu/kmer/jellyfish_number.hpp"
#include "lib/core/error.hpp"
#include "lib/io/sequence_reader.hpp"
#include "lib/kmer/sequences/fastq_chunks.hpp"
#include "lib/pipeline/pipeline.hpp"

namespace biogpu::app {
namespace {

constexpr io::BatchLimits kBatch{65536, 4u << 20};

// Called after every batch with the bytes and records of the file so far.
using ReportBatch = std::function<void(std::uint64_t bytes, std::uint64_t n_records)>;

std::uint64_t read_chunks(const kmer::FastqChunks& chunks, int n_threads,
                          const KmerInput::Consume& consume, const ReportBatch& report_batch,
                          pipeline::Times& times) {
  struct ParsedChunk {
    std::size_t chunk = 0;
    io::CharBuffer text;
    std::uint64_t n_records = 0;
  };
  std::vector<ParsedChunk> items(static_cast<std::size_t>(n_threads) + 2);
  std::size_t next = 0;
  std::uint64_t n_records = 0;
  times = pipeline::run({n_threads, static_cast<int>(items.size())},
                        {[&](std::size_t slot) {
                           items[slot].chunk = next++;
                           return items[slot].chunk < chunks.n_chunks();
                         },
                         [&](std::size_t slot) {
                           ParsedChunk& item = items[slot];
                           consume([&](const kmer::AddSequence& add) {
                             item.n_records = chunks.read(item.chunk, item.text, add);
                           });
                         },
                         [&](std::size_t slot) {
                           n_records += items[slot].n_records;
                           report_batch((items[slot].chunk + 1) * kmer::FastqChunks::kChunkBytes,
                                        n_records);
                         }});
  return n_records;
}

pipeline::Times read_batches(io::SequenceReader& reader, int n_threads,
                             const io::BatchLimits& limits, const KmerInput::Consume& consume,
                             const ReportBatch& report_batch) {
  std::uint64_t n_records = 0;
  std::vector<io::SequenceBatch> batches(static_cast<std::size_t>(n_threads) + 2);
  return pipeline::run({n_threads, static_cast<int>(batches.size())},
                       {[&](std::size_t slot) { return reader.read_any(batches[slot], limits); },
                        [&](std::size_t slot) {
                          const io::SequenceBatch& batch = batches[slot];
                          consume([&](const kmer::AddSequence& add) {
                            for (std::size_t i = 0; i < batch.size(); ++i)
                              add(batch.sequence(i), batch.quality(i));
                          });
                        },
                        [&](std::size_t slot) {
                          n_records += batches[slot].size();
                          report_batch(reader.compressed_bytes(), n_records);
                        }});
}

}  // namespace

void KmerInputFlags::resolve() const {
  if (files.empty() && sam_files.empty() && generator.empty())
    throw Error(ErrorCode::usage, "no input: give a FILE, --sam or --generator");
}

std::vector<std::string> KmerInputFlags::paths() const {
  std::vector<std::string> all = sam_files;
  all.insert(all.end(), files.begin(), files.end());
  return all;
}

std::vector<std::string> KmerInputFlags::files_read() const {
  std::vector<std::string> all = paths();
  all.push_back(generator);
  return all;
}

std::uint64_t KmerInputFlags::bytes() const {
  std::uint64_t sum = 0;
  for (const auto* paths : {&files, &sam_files})
    for (const std::string& path : *paths) {
      std::error_code ignored_error;
      const std::uintmax_t size = std::filesystem::file_size(path, ignored_error);
      if (!ignored_error) sum += size;
    }
  return sum;
}

void add_kmer_input_flags(CLI::App& command, KmerInputFlags& flags) {
  const OptionGroup input(command, "Input");
  OptionGroup(command).option("FILE", flags.files,
                              "sequence files of any format below; - is standard input", " ");
  input
      .option("--sam", flags.sam_files, "read this file as FILE; it may be SAM, BAM or CRAM too",
              "FILE")
      ->allow_extra_args(false)
      ->take_all();
  input.option("-g,--generator", flags.generator,
               "run the shell commands of this file, one a line, which write sequences", "FILE");
  input.option("-G,--Generators", flags.n_generators, "run N of these commands at a time [1]", "N")
      ->transform(jellyfish_number(1, 1024));
  input.option("-S,--shell", flags.shell,
               "run the commands of -g in this shell [SHELL, else /bin/sh]", "PROGRAM");
  input
      .option("-F,--Files", flags.ignored,
              "ignore this option, which is accepted for compatibility", "N")
      ->transform(jellyfish_number(0, UINT32_MAX));
}

void KmerInput::select(const KmerInputFlags& flags, const io::Shard& shard) {
  ranges_ = io::shard_files(flags.paths(), shard, n_threads_);
}

void KmerInput::read_all(const KmerInputFlags& flags, const Consume& consume,
                         const ReportProgress& report_progress) {
  report_progress_ = report_progress;
  all_bytes_ = flags.bytes();
  const std::vector<std::string> paths = flags.paths();
  for (std::size_t i = 0; i < paths.size(); ++i)
    read_as(paths[i], paths[i], n_threads_, ranges_.empty() ? nullptr : &ranges_[i], consume);
  if (!flags.generator.empty()) read_commands(flags, consume);
}

void KmerInput::read_commands(const KmerInputFlags& flags, const Consume& consume) {
  const int n_at_once = flags.n_generators;
  const int n_threads = std::max(1, n_threads_ / n_at_once);
  run_generators(flags.generator, flags.shell, n_at_once,
                 [&](const std::string& command, const std::string& path) {
                   read_as(command, path, n_threads, nullptr, consume);
                 });
}

void KmerInput::report(std::uint64_t bytes, std::uint64_t n_records) {
  if (!report_progress_) return;
  const std::lock_guard lock(mutex_);
  const auto done = static_cast<double>(bytes_before_ + bytes);
  report_progress_(all_bytes_ == 0 ? 0 : std::min(1.0, done / static_cast<double>(all_bytes_)),
                   records_before_ + n_records);
}

std::vector<StageTimes> KmerInput::stages() const {
  pipeline::Times all = parsed_;
  all += cut_;
  std::vector<StageTimes> stages = pipeline::stages_of(all);
  stages.pop_back();  // nothing is written here
  stages[0].bytes = bytes_parsed_;
  stages[1].name = "scan";
  stages[1].bytes = bytes_parsed_ + bytes_cut_;
  return stages;
}

void KmerInput::read_as(const std::string& name, const std::string& path, int n_threads,
                        const io::RecordRange* range, const Consume& consume) {
  report::InputFile file{name, 0, 0};
  const auto report_batch = [this](std::uint64_t bytes, std::uint64_t n) { report(bytes, n); };
  pipeline::Times times;
  const auto chunks = range == nullptr ? kmer::FastqChunks::open(path) : nullptr;
  if (chunks) {
    file.records = read_chunks(*chunks, n_threads, consume, report_batch, times);
    file.bytes = chunks->file_bytes();
  } else {
    io::BatchLimits limits = kBatch;
    if (batch_ > 0) limits.n_records = batch_;
    io::SequenceReader reader(path, n_threads);
    // Longer records are shared by the threads, and memory does not depend on them.
    reader.split_records(kBatch.n_residues, static_cast<std::size_t>(k_ - 1));
    if (range != nullptr) reader.select(*range);
    times = read_batches(reader, n_threads, limits, consume, report_batch);
    file.records = reader.n_records();
    file.bytes = reader.file_bytes();
  }
  const std::lock_guard lock(mutex_);
  files_.push_back(file);
  (chunks ? cut_ : parsed_) += times;
  (chunks ? bytes_cut_ : bytes_parsed_) += file.bytes;
  if (!report_progress_) return;
  bytes_before_ += file.bytes;
  records_before_ += file.records;
}

}  // namespace biogpu::app
