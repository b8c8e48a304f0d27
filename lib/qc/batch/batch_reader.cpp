#include "lib/qc/batch/batch_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/output/suffix.hpp"

namespace biogpu::qc {

namespace {

// Where the output is compressed too, the workers' cores are the bound and inflating should cost
// them as little as it can; with few threads the same holds.
Inflaters inflaters_for(const Options& options, int n_threads) {
  constexpr int kWorthPieces = 8;
  Inflaters inflaters;
  if (n_threads > 1) inflaters.bgzf = n_threads;
  if (n_threads >= kWorthPieces && !io::is_gzip_name(options.out1))
    inflaters.pieces = n_threads / 4;
  return inflaters;
}

Damage damage_of_run(const Options& options) {
  return options.lenient ? Damage::skipped : Damage::refused;
}

// While counting and passing over.
constexpr std::size_t kRecordsAtOnce = 4000;
constexpr std::size_t kBytesAtOnce = 8u << 20;

// What both mates' names have in common: without '@', /1, .1 or _1 and what follows a blank.
std::string_view name_of_pair(std::string_view name) {
  name.remove_prefix(std::min<std::size_t>(1, name.size()));
  name = name.substr(0, name.find_first_of(" \t"));
  constexpr std::string_view kMates = "12";
  constexpr std::string_view kBefore = "/._";
  if (name.size() > 2 && kMates.find(name.back()) != std::string_view::npos &&
      kBefore.find(name[name.size() - 2]) != std::string_view::npos)
    name.remove_suffix(2);
  return name;
}

std::uint64_t count_reads(const std::string& path, const Inflaters& inflaters) {
  io::require_file_for_shard(path);
  FastqFile file(path, Damage::refused, inflaters);
  FastqChunk chunk;
  while (file.read(chunk, kRecordsAtOnce, kBytesAtOnce)) continue;
  return file.n_records();
}

void pass_over(FastqFile& file, std::uint64_t n) {
  FastqChunk chunk;
  while (n > 0 &&
         file.read(chunk, static_cast<std::size_t>(std::min<std::uint64_t>(n, kRecordsAtOnce)),
                   kBytesAtOnce))
    n -= chunk.records.size();
}

}  // namespace

BatchReader::BatchReader(const Options& options, std::size_t batch_records, int n_threads)
    : options_(options),
      file1_(options.in1, damage_of_run(options), inflaters_for(options, n_threads)) {
  const std::size_t per_pair = options.interleaved ? 2 : 1;
  const Inflaters inflaters = inflaters_for(options, n_threads);
  if (!options.in2.empty()) file2_.emplace(options.in2, damage_of_run(options), inflaters);
  std::uint64_t most = options.reads_to_process;  // 0: all
  if (!options.shard.is_whole()) {
    range_ = find_shard(inflaters);
    most = range_.end - range_.begin;
    ended_ = most == 0;
    if (ended_) return;
    pass_over(file1_, range_.begin * per_pair);
    if (file2_) pass_over(*file2_, range_.begin);
  }
  ahead1_.emplace(file1_, batch_records * per_pair, most * per_pair);
  if (file2_) ahead2_.emplace(*file2_, batch_records, most);
}

// Whole packs, so that a shard's numbers and its compressed bytes are those that the whole run has
// for them.
io::RecordRange BatchReader::find_shard(const Inflaters& inflaters) {
  const std::uint64_t n_reads = count_reads(options_.in1, inflaters);
  if (options_.interleaved && n_reads % 2 != 0)
    unequal(file1_, n_reads / 2, "its last read has no mate");
  n_of_input_ = options_.interleaved ? n_reads / 2 : n_reads;
  if (file2_) {
    const std::uint64_t n_mates = count_reads(options_.in2, inflaters);
    if (n_mates != n_of_input_)
      unequal(n_of_input_ < n_mates ? file1_ : *file2_, std::min(n_of_input_, n_mates),
              "the file of the other mates has more");
  }
  if (options_.reads_to_process > 0) n_of_input_ = std::min(n_of_input_, options_.reads_to_process);
  return io::shard_range(options_.shard, n_of_input_, kPackRecords);
}

bool BatchReader::next(Batch& batch) {
  batch.first_record = range_.begin + n_records_;
  batch.n_records = 0;
  if (ended_) return false;
  const bool more1 = ahead1_->next(batch.chunk1);
  std::size_t n1 = more1 ? batch.chunk1.records.size() : 0;
  if (options_.interleaved) {
    if (n1 % 2 != 0) unequal(file1_, n1 / 2, "its last read has no mate");
    n1 /= 2;
  }
  batch.n_records = n1;
  if (ahead2_) {
    const bool more2 = ahead2_->next(batch.chunk2);
    const std::size_t n2 = more2 ? batch.chunk2.records.size() : 0;
    if (n1 != n2) {
      const bool first_is_shorter = n1 < n2;
      unequal(first_is_shorter ? file1_ : *file2_, std::min(n1, n2),
              "the file of the other mates has more");
    }
    batch.n_records = std::min(n1, n2);
  }
  if (options_.paired() && n_records_ == 0) compare_names(batch);
  n_records_ += batch.n_records;
  return batch.n_records > 0;
}

// Files of two lanes or runs sometimes have as many reads. Compares the first pack, as fastp calls
// it, in batches of any size.
void BatchReader::compare_names(Batch& batch) {
  for (std::size_t i = 0; i < std::min(batch.n_records, kPackRecords); ++i) {
    FastqChunk& chunk2 = options_.interleaved ? batch.chunk1 : batch.chunk2;
    const std::size_t at1 = options_.interleaved ? 2 * i : i;
    const std::size_t at2 = options_.interleaved ? at1 + 1 : i;
    const std::string_view name1 = name_of_pair(batch.chunk1.name(batch.chunk1.records[at1]));
    const std::string_view name2 = name_of_pair(chunk2.name(chunk2.records[at2]));
    if (name1 == name2) continue;
    other_names_ = fmt::format("pair {}: the mates are called {} and {}; are the files of one run?",
                               batch.first_record + i + 1, quoted(name1), quoted(name2));
    return;
  }
}

StageTimes BatchReader::ahead_stage() const {
  StageTimes stage{"read/files", 0, 0, 0, 0, "free slots", bytes_read()};
  for (const auto* const ahead : {&ahead1_, &ahead2_}) {
    if (!*ahead) continue;
    ++stage.n_threads;
    stage.busy_s += (*ahead)->busy_seconds();
    stage.wait_s += (*ahead)->wait_seconds();
  }
  return stage;
}

double BatchReader::wait_seconds() const {
  return (ahead1_ ? ahead1_->next_seconds() : 0) + (ahead2_ ? ahead2_->next_seconds() : 0);
}

std::uint64_t BatchReader::bytes_read() const {
  return file1_.bytes_read() + (file2_ ? file2_->bytes_read() : 0);
}

std::uint64_t BatchReader::file_bytes() const {
  const std::uint64_t bytes1 = file1_.file_bytes();
  if (!file2_) return bytes1;
  const std::uint64_t bytes2 = file2_->file_bytes();
  return bytes1 == 0 || bytes2 == 0 ? 0 : bytes1 + bytes2;
}

double BatchReader::fraction_read() const {
  const std::uint64_t bytes = file1_.file_bytes();
  return bytes == 0 ? 0 : static_cast<double>(file1_.bytes_read()) / static_cast<double>(bytes);
}

void BatchReader::add_remarks(std::vector<std::string>& remarks) const {
  remarks.insert(remarks.end(), file1_.remarks().begin(), file1_.remarks().end());
  if (file2_) remarks.insert(remarks.end(), file2_->remarks().begin(), file2_->remarks().end());
  remarks.insert(remarks.end(), remarks_.begin(), remarks_.end());
}

// The mates do not go together from here on.
void BatchReader::unequal(const FastqFile& file, std::size_t n_here, const char* what) {
  const std::uint64_t n = range_.begin + n_records_ + n_here;
  const std::string text = fmt::format("{}: ends after record {}; {}", file.label(), n, what);
  if (!options_.lenient) throw Error(ErrorCode::bad_input, text + "; are the files of one run?");
  remarks_.push_back("WARNNIG: different read numbers: " + text);
  ended_ = true;
}

}  // namespace biogpu::qc
