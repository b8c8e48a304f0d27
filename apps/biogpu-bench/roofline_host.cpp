#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

#include "apps/biogpu-bench/report.hpp"
#include "lib/core/error.hpp"
#include "lib/core/parallel_for.hpp"
#include "lib/io/output_file.hpp"
#include "lib/io/sequence_reader.hpp"
#include "lib/pipeline/pipeline.hpp"

namespace biogpu::bench {
namespace {

constexpr int kRuns = 5;

class Clock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// a[i] = b[i] + s * c[i] over arrays far larger than the caches: three streams of 8-byte numbers.
Figure measure_bandwidth(int n_threads) {
  constexpr std::size_t kElements = std::size_t{1} << 25;
  std::vector<double> a(kElements), b(kElements, 1.0), c(kElements, 2.0);
  tbb::task_arena arena(arena_threads(static_cast<std::size_t>(n_threads)));
  return measure("host memory", "GB/s", "triad, 3 x 256 MiB", kRuns, [&] {
    const Clock clock;
    arena.execute([&] {
      tbb::parallel_for(tbb::blocked_range<std::size_t>(0, kElements, 1 << 16), [&](const auto& r) {
        for (std::size_t i = r.begin(); i < r.end(); ++i) a[i] = b[i] + 3.0 * c[i];
      });
    });
    return 3.0 * sizeof(double) * kElements / clock.seconds() * 1e-9;
  });
}

// A temporary file that is gone when the benchmark ends, however it ends.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& suffix)
      : path_(std::filesystem::temp_directory_path() /
              ("biogpu-bench-" + std::to_string(std::random_device{}()) + suffix)) {}
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::string random_residues(std::mt19937& random, std::size_t n) {
  std::string text(n, 'A');
  for (char& residue : text) residue = "ACGT"[random() & 3];
  return text;
}

void write_records(const std::string& path, bool fastq, std::size_t n_records) {
  std::ofstream file(path, std::ios::binary);
  std::mt19937 random(1);
  for (std::size_t i = 0; i < n_records; ++i) {
    const std::string residues = random_residues(random, 150);
    file << (fastq ? '@' : '>') << "read" << i << '\n' << residues << '\n';
    if (fastq) file << "+\n" << std::string(residues.size(), 'I') << '\n';
  }
  file.close();
  if (!file) throw Error(ErrorCode::failed, path + ": cannot write the benchmark's input");
}

Figure measure_parse(bool fastq, int n_threads) {
  const TemporaryFile file(fastq ? ".fq" : ".fa");
  write_records(file.path(), fastq, 600000);
  const auto bytes = static_cast<double>(std::filesystem::file_size(file.path()));
  const std::string format = fastq ? "FASTQ" : "FASTA";
  const std::string threads =
      n_threads == 1 ? "one thread" : std::to_string(n_threads) + " threads";
  return measure(n_threads == 1 ? "parse " + format : "parse " + format + ", threads", "GB/s",
                 "150 bp records, cached file, " + threads, kRuns, [&] {
                   const Clock clock;
                   io::SequenceReader reader(file.path(), n_threads);
                   io::SequenceBatch batch;
                   while (reader.read_any(batch)) {
                   }
                   return bytes / clock.seconds() * 1e-9;
                 });
}

// Blocks that n threads make go into one file: one thread writes all of them, or each its own at
// their places.
Figure measure_write(int n_threads, bool each_its_own) {
  constexpr std::size_t kBlocks = 400;
  constexpr std::size_t kBytes = 1310720;
  std::vector<std::string> blocks(2 * static_cast<std::size_t>(n_threads) + 1);
  std::vector<std::uint64_t> offsets(blocks.size());
  return measure(each_its_own ? "write a file, each its own" : "write a file, one for all", "GB/s",
                 "524 MB into the page cache, made by " + std::to_string(n_threads) + " threads",
                 kRuns, [&] {
                   const TemporaryFile name(".bin");
                   io::OutputFile file(name.path());
                   std::size_t n = 0;
                   const Clock clock;
                   pipeline::run({n_threads, static_cast<int>(blocks.size())},
                                 {[&](std::size_t slot) {
                                    if (n++ == kBlocks) return false;
                                    if (each_its_own) offsets[slot] = file.reserve(kBytes);
                                    return true;
                                  },
                                  [&](std::size_t slot) {
                                    blocks[slot].assign(kBytes, static_cast<char>('a' + slot % 26));
                                    if (each_its_own) file.write_at(offsets[slot], blocks[slot]);
                                  },
                                  [&](std::size_t slot) {
                                    if (!each_its_own) file.write(blocks[slot]);
                                  }});
                   return static_cast<double>(kBlocks * kBytes) / clock.seconds() * 1e-9;
                 });
}

}  // namespace

std::vector<Figure> measure_host(int n_threads) {
  std::vector<Figure> figures{measure_bandwidth(n_threads), measure_parse(false, 1),
                              measure_parse(true, 1)};
  if (n_threads > 1)
    for (const bool fastq : {false, true}) figures.push_back(measure_parse(fastq, n_threads));
  for (const bool each_its_own : {false, true})
    figures.push_back(measure_write(n_threads, each_its_own));
  return figures;
}

}  // namespace biogpu::bench
