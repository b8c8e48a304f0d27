#pragma once

#include <array>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "lib/core/stage_times.hpp"
#include "lib/io/output/atomic_file.hpp"
#include "lib/qc/batch/batch.hpp"
#include "lib/qc/options/options.hpp"
#include "lib/qc/output/gzip_compressor.hpp"

namespace biogpu::qc {

// The files of a run, written in the order of the batches; they get their names in commit(). A name
// that ends in ".gz" is compressed: by the workers, through compress(). Where all are regular
// files, any thread writes a batch, at offsets that batches get in their order; else one thread
// writes them.
class OutputSet {
 public:
  // write_async: each file by its thread, where offsets are not taken. Parts of a split
  // are written at once all the same.
  OutputSet(const Options& options, bool write_async);
  ~OutputSet();

  // Whether a worker has anything to compress.
  bool compresses() const { return compresses_; }
  // Compresses the batch's texts; any worker, each with another compressor.
  void compress(Batch& batch, GzipCompressor& compressor) const;
  bool takes_offsets() const { return takes_offsets_; }
  // Gives a batch its offsets; batches come in order, one at a time.
  void place(Batch& batch);
  // Writes a batch that has its offsets. Any thread.
  void write_at(Batch& batch);
  // Without offsets: writes a batch, whose texts it may take; batches come in order.
  void write(Batch& batch);
  // Given to write() or place() so far, over all files.
  std::uint64_t bytes_written() const { return n_bytes_; }
  // The asynchronous writers together; n_threads is 0 without any.
  StageTimes writer_stage() const;
  // Returns when all is in the files and only their names are missing; throws what writing threw.
  void finish();
  // After finish().
  void commit();

 private:
  struct File;
  void open_stdout();
  void start_writers();
  // As fastp leaves it; also the second unpaired file unless there is a first.
  bool stays_empty(std::size_t output) const;
  bool is_compressed(std::size_t output) const;
  static bool commit_aside(File& file, std::vector<std::future<void>>& others);
  class Splitter;

  // What is written of an output: its text, or the compressed text.
  io::CharBuffer& written_of(Batch& batch, std::size_t output) const;

  const Options& options_;
  const bool commits_aside_;  // more than one file at a time
  std::uint64_t n_bytes_ = 0;
  bool compresses_ = false;
  bool takes_offsets_ = false;
  std::array<std::unique_ptr<File>, kOutputs> files_;
  std::unique_ptr<File> stdout_;  // with --stdout
  std::size_t streamed_ = 0;      // the output whose text goes there
  std::unique_ptr<Splitter> splitter_;
};

}  // namespace biogpu::qc
