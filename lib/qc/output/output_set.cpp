#include "lib/qc/output/output_set.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "lib/io/output/suffix.hpp"
#include "lib/qc/options/output_names.hpp"
#include "lib/qc/output/async_writer.hpp"

namespace biogpu::qc {

struct OutputSet::File {
  File(const std::string& path, bool bgzf_wanted)
      : target(path), gzip(io::is_gzip_name(path)), bgzf(bgzf_wanted) {}

  void write(std::string_view bytes) {
    empty = empty && bytes.empty();
    target.write(bytes);
  }

  // May take the text and leave an empty buffer.
  void write(io::CharBuffer& text) {
    if (!writer) return write(text.view());
    if (text.size() == 0) return;
    empty = false;
    writer->write(text);
  }

  // Room for the next n bytes; returns where.
  std::uint64_t place(std::uint64_t n) {
    empty = empty && n == 0;
    return std::exchange(end, end + n);
  }

  // All that can fail but the renaming; gives the descriptor back.
  void finish() {
    if (writer) writer->finish();
    if (end > 0) target.seek(end);
    if (gzip) target.write(GzipCompressor::end_of_file(bgzf, empty));
    target.finish();
  }

  void commit() { target.commit(); }

  io::output::AtomicFile target;
  const bool gzip;
  const bool bgzf;
  bool empty = true;
  std::uint64_t end = 0;              // of what has places
  std::optional<AsyncWriter> writer;  // after target: its thread ends first
};

// The parts of out1 and out2. Each of fastp's workers writes every n-th part, so that a pack's part
// depends on its worker.
class OutputSet::Splitter {
 public:
  explicit Splitter(const Options& options)
      : options_(options), workers_(static_cast<std::size_t>(options.virtual_workers)) {
    for (std::size_t w = 0; w < workers_.size(); ++w) open(workers_[w], w);
  }

  void write(const Batch& batch) {
    PackEnd begin;
    std::uint64_t pack = batch.first_record / kPackRecords;
    for (const PackEnd& end : batch.packs) {
      Worker& worker = workers_[pack++ % workers_.size()];
      write_part(worker.file1, batch, Output::out1, begin, end);
      write_part(worker.file2, batch, Output::out2, begin, end);
      worker.n_records += options_.split_by_lines ? end.n_passed : end.n_records;
      if (worker.n_records >= options_.split_records) advance(worker);
      begin = end;
    }
  }

  void finish() {
    // Parts that the input had no reads for are there, and empty.
    for (Worker& worker : workers_)
      while (options_.split_files > 0 && has_next(worker))
        open(worker, worker.part + workers_.size());
    for (Worker& worker : workers_) close(worker);
  }

  void commit() {
    for (auto& file : whole_) file->commit();
  }

 private:
  struct Worker {
    std::size_t part = 0;
    std::uint64_t n_records = 0;
    std::unique_ptr<File> file1;
    std::unique_ptr<File> file2;
  };

  bool has_next(const Worker& worker) const {
    return options_.split_by_lines ||
           worker.part + workers_.size() < static_cast<std::size_t>(options_.split_files);
  }

  void advance(Worker& worker) {
    if (has_next(worker)) open(worker, worker.part + workers_.size());
  }

  // Parts keep their temporary names until all is written, but not their descriptors.
  void close(Worker& worker) {
    for (auto* file : {&worker.file1, &worker.file2}) {
      if (!*file) continue;
      (*file)->finish();
      whole_.push_back(std::move(*file));
    }
  }

  void open(Worker& worker, std::size_t part) {
    close(worker);
    worker.part = part;
    worker.n_records = 0;
    worker.file1 = make(options_.out1, part);
    worker.file2 = options_.paired() ? make(options_.out2, part) : nullptr;
  }

  std::unique_ptr<File> make(const std::string& path, std::size_t part) const {
    if (path.empty()) return nullptr;
    return std::make_unique<File>(part_name(path, part, options_.split_digits), options_.bgzf);
  }

  static void write_part(const std::unique_ptr<File>& file, const Batch& batch, Output which,
                         const PackEnd& begin, const PackEnd& end) {
    if (!file) return;
    const auto i = static_cast<std::size_t>(which);
    const auto part = [i](const io::CharBuffer& text, const auto& from, const auto& to) {
      return text.view().substr(from[i], to[i] - from[i]);
    };
    file->write(file->gzip ? part(batch.compressed[i], begin.compressed, end.compressed)
                           : part(batch.text[i], begin.text, end.text));
  }

  const Options& options_;
  std::vector<Worker> workers_;
  std::vector<std::unique_ptr<File>> whole_;
};

OutputSet::OutputSet(const Options& options, bool write_async)
    : options_(options), commits_aside_(write_async) {
  if (options.split()) {
    // fastp writes the failed reads nowhere while splitting.
    if (!options.out1.empty()) splitter_ = std::make_unique<Splitter>(options);
    compresses_ = io::is_gzip_name(options.out1) || io::is_gzip_name(options.out2);
    return;
  }
  const auto open = [&](Output which, const std::string& path) {
    if (path.empty()) return;
    files_[static_cast<std::size_t>(which)] = std::make_unique<File>(path, options.bgzf);
    compresses_ = compresses_ || io::is_gzip_name(path);
  };
  open(Output::out1, options.out1);
  open(Output::out2, options.out2);
  open(Output::merged, options.merged_out);
  open_stdout();
  open(Output::unpaired1, options.unpaired1);
  if (options.unpaired2 != options.unpaired1) open(Output::unpaired2, options.unpaired2);
  open(Output::failed, options.failed_out);
  open(Output::overlapped, options.overlapped_out);
  takes_offsets_ = !stdout_ && std::all_of(files_.begin(), files_.end(), [](const auto& file) {
    return !file || file->target.is_regular();
  });
  if (write_async && !takes_offsets_) start_writers();
}

OutputSet::~OutputSet() = default;

void OutputSet::open_stdout() {
  if (!options_.use_stdout) return;
  streamed_ = static_cast<std::size_t>(options_.merge ? Output::merged : Output::out1);
  stdout_ = std::make_unique<File>("-", false);
}

void OutputSet::start_writers() {
  for (auto& file : files_)
    if (file) file->writer.emplace(file->target);
  // An asynchronous writer takes the text, which the file of the same reads still needs.
  if (stdout_ && !files_[streamed_]) stdout_->writer.emplace(stdout_->target);
}

// Interleaved pairs go to standard output alone, and leave the files of the mates empty.
bool OutputSet::stays_empty(std::size_t output) const {
  if (output == static_cast<std::size_t>(Output::unpaired2)) return options_.unpaired1.empty();
  return stdout_ && options_.paired() && !options_.merge &&
         (output == static_cast<std::size_t>(Output::out1) ||
          output == static_cast<std::size_t>(Output::out2));
}

bool OutputSet::is_compressed(std::size_t output) const {
  if (!splitter_) return files_[output] && files_[output]->gzip && !stays_empty(output);
  if (output == static_cast<std::size_t>(Output::out1)) return io::is_gzip_name(options_.out1);
  return output == static_cast<std::size_t>(Output::out2) && io::is_gzip_name(options_.out2);
}

// Members end where packs do, so that they do not depend on how packs make batches, or shards.
void OutputSet::compress(Batch& batch, GzipCompressor& compressor) const {
  for (std::size_t i = 0; i < kOutputs; ++i) {
    batch.compressed[i].clear();
    if (!is_compressed(i)) continue;
    std::size_t begin = 0;
    for (PackEnd& end : batch.packs) {
      compressor.compress(batch.text[i].view().substr(begin, end.text[i] - begin),
                          batch.compressed[i]);
      end.compressed[i] = batch.compressed[i].size();
      begin = end.text[i];
    }
  }
}

io::CharBuffer& OutputSet::written_of(Batch& batch, std::size_t output) const {
  return is_compressed(output) ? batch.compressed[output] : batch.text[output];
}

void OutputSet::place(Batch& batch) {
  for (std::size_t i = 0; i < kOutputs; ++i) {
    if (!files_[i] || stays_empty(i)) continue;
    const std::uint64_t n = written_of(batch, i).size();
    batch.offset[i] = files_[i]->place(n);
    n_bytes_ += n;
  }
}

void OutputSet::write_at(Batch& batch) {
  for (std::size_t i = 0; i < kOutputs; ++i)
    if (files_[i] && !stays_empty(i))
      files_[i]->target.write_at(batch.offset[i], written_of(batch, i).view());
}

void OutputSet::write(Batch& batch) {
  if (splitter_) {
    for (const Output which : {Output::out1, Output::out2})
      n_bytes_ += written_of(batch, static_cast<std::size_t>(which)).size();
    return splitter_->write(batch);
  }
  if (stdout_) {
    n_bytes_ += batch.text[streamed_].size();
    stdout_->write(batch.text[streamed_]);
  }
  for (std::size_t i = 0; i < kOutputs; ++i) {
    if (!files_[i] || stays_empty(i)) continue;
    io::CharBuffer& bytes = written_of(batch, i);
    n_bytes_ += bytes.size();
    files_[i]->write(bytes);
  }
}

StageTimes OutputSet::writer_stage() const {
  StageTimes stage{"write/files", 0, 0, 0, 0, "text", n_bytes_};
  const auto add = [&](const std::unique_ptr<File>& file) {
    if (!file || !file->writer) return;
    ++stage.n_threads;
    stage.busy_s += file->writer->busy_seconds();
    stage.wait_s += file->writer->wait_seconds();
  };
  add(stdout_);
  for (const auto& file : files_) add(file);
  return stage;
}

void OutputSet::finish() {
  if (stdout_) stdout_->finish();
  if (splitter_) splitter_->finish();
  for (auto& file : files_)
    if (file) file->finish();
}

// Commits a file on a thread of its own; false where none is to be had.
bool OutputSet::commit_aside(File& file, std::vector<std::future<void>>& others) {
  try {
    others.push_back(std::async(std::launch::async, [&file] { file.commit(); }));
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

void OutputSet::commit() {
  if (splitter_) splitter_->commit();
  // Giving a name away means to free what bore it, which takes a large file's time.
  std::vector<std::future<void>> others;
  for (auto& file : files_) {
    if (!file) continue;
    if (!commits_aside_ || !commit_aside(*file, others)) file->commit();
  }
  for (auto& other : others) other.get();
}

}  // namespace biogpu::qc
