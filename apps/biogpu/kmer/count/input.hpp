#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "lib/io/shard.hpp"
#include "lib/kmer/sequences/packed_text.hpp"
#include "lib/pipeline/pipeline.hpp"
#include "lib/report/json_summary.hpp"

namespace biogpu::app {

// Where the sequences of a command that counts come from, as Jellyfish's options say it.
struct KmerInputFlags {
  std::vector<std::string> files;
  std::vector<std::string> sam_files;
  std::string generator;  // a file of shell commands that write sequences; empty: none
  int n_generators = 1;   // run at a time
  std::string shell;      // empty: SHELL, else /bin/sh
  std::uint32_t ignored = 1;

  // Throws Error{usage} where no input was given.
  void resolve() const;
  std::vector<std::string> paths() const;       // of all files, in the order in which they are read
  std::vector<std::string> files_read() const;  // these, and the file of commands
  std::uint64_t bytes() const;                  // of the regular files
};

void add_kmer_input_flags(CLI::App& command, KmerInputFlags& flags);

// Reads sequences with several threads and hands them to a counter.
class KmerInput {
 public:
  // Takes some of the sequences; any thread, many at a time.
  using Consume = std::function<void(const kmer::FeedSequences& feed)>;

  // Of the bytes of the files named, 0 where that is unknown; one call at a time.
  using ReportProgress = std::function<void(double fraction, std::uint64_t n_records)>;

  // k: of the windows that are wanted. batch: records handed over at a time, 0: chosen.
  KmerInput(int k, int n_threads, std::uint64_t batch)
      : k_(k), n_threads_(n_threads), batch_(batch) {}

  // read_all() will read a shard of all files, one after the other.
  void select(const KmerInputFlags& flags, const io::Shard& shard);
  // report_progress: called after each batch.
  void read_all(const KmerInputFlags& flags, const Consume& consume,
                const ReportProgress& report_progress = nullptr);
  // "-" is standard input. Plain FASTQ is parsed by all threads, everything else by one.
  void read_file(const std::string& path, const Consume& consume) {
    read_as(path, path, n_threads_, nullptr, consume);
  }

  const std::vector<report::InputFile>& files() const { return files_; }
  // Of all that was read: read, and scan on the workers, which parse plain FASTQ themselves.
  std::vector<StageTimes> stages() const;

 private:
  // range: null for the whole file.
  void read_as(const std::string& name, const std::string& path, int n_threads,
               const io::RecordRange* range, const Consume& consume);
  void read_commands(const KmerInputFlags& flags, const Consume& consume);

  // Of the file that is being read.
  void report(std::uint64_t bytes, std::uint64_t n_records);

  const int k_;
  const int n_threads_;
  const std::uint64_t batch_;
  std::vector<io::RecordRange> ranges_;  // of the files of read_all(), empty: all of them
  std::mutex mutex_;
  std::vector<report::InputFile> files_;
  pipeline::Times parsed_;  // of files that one thread parses
  pipeline::Times cut_;     // of those that the workers parse
  std::uint64_t bytes_parsed_ = 0;
  std::uint64_t bytes_cut_ = 0;
  ReportProgress report_progress_;  // while read_all() runs
  std::uint64_t all_bytes_ = 0;
  std::uint64_t bytes_before_ = 0;  // of the files that are read
  std::uint64_t records_before_ = 0;
};

}  // namespace biogpu::app
