#include "lib/qc/input/read_sample.hpp"

namespace biogpu::qc {
namespace {
constexpr std::size_t kChunk = 4096;
}

ReadSample::ReadSample(const std::string& path, std::uint64_t max_reads, std::uint64_t max_bases,
                       Damage damage) {
  FastqFile file(path, damage, {});
  FastqChunk chunk;
  const auto full = [&] { return ends_.size() >= max_reads || bases_.size() >= max_bases; };
  while (!full()) {
    if (!file.read(chunk, kChunk, kBytesOfLook)) {
      n_reads_of_file_ = ends_.size();
      return;
    }
    for (const RecordPlace& record : chunk.records) {
      if (full()) break;
      bases_.append(chunk.sequence(record), record.length);
      ends_.push_back(bases_.size());
    }
  }
  // fastp's one percent more, since the rate of compression falls with the quality.
  const double bytes_per_read =
      static_cast<double>(file.bytes_read()) / static_cast<double>(file.n_records());
  n_reads_of_file_ =
      static_cast<std::uint64_t>(static_cast<double>(file.file_bytes()) * 1.01 / bytes_per_read);
}

}  // namespace biogpu::qc
