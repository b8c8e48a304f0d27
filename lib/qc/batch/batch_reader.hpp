#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/core/stage_times.hpp"
#include "lib/qc/batch/batch.hpp"
#include "lib/qc/input/prefetcher.hpp"
#include "lib/qc/options/options.hpp"

namespace biogpu::qc {

// The input as batches of whole packs, mates put together. Files are read ahead by threads of their
// own. Mates that do not go together: Error{bad_input}, or a remark and the end of a lenient run.
class BatchReader {
 public:
  // n_threads: of the run.
  BatchReader(const Options& options, std::size_t batch_records, int n_threads);

  // False, with nothing in the batch, at the end.
  bool next(Batch& batch);

  std::uint64_t n_records() const { return n_records_; }    // reads or pairs so far
  std::uint64_t n_of_input() const { return n_of_input_; }  // of all shards; 0 without --shard
  std::uint64_t bytes_read() const;
  std::uint64_t file_bytes() const;  // of all files; 0 where one is not regular
  double fraction_read() const;      // 0 where it cannot be told
  StageTimes ahead_stage() const;    // the threads that read ahead, together
  double wait_seconds() const;       // that next() waited for them
  void add_remarks(std::vector<std::string>& remarks) const;
  // The remark on the first mates whose names differ; empty where there are none.
  const std::string& other_names() const { return other_names_; }

 private:
  io::RecordRange find_shard(const Inflaters& inflaters);
  void unequal(const FastqFile& file, std::size_t n_here, const char* what);
  void compare_names(Batch& batch);

  const Options& options_;
  FastqFile file1_;
  std::optional<FastqFile> file2_;
  std::optional<Prefetcher> ahead1_;
  std::optional<Prefetcher> ahead2_;
  io::RecordRange range_;  // reads or pairs of the input
  std::uint64_t n_of_input_ = 0;
  std::uint64_t n_records_ = 0;
  std::vector<std::string> remarks_;
  std::string other_names_;
  bool ended_ = false;
};

}  // namespace biogpu::qc
