#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/bio/genome/contig.hpp"
#include "lib/bio/genome/letters.hpp"
#include "lib/bio/genome/window.hpp"
#include "lib/io/bad_records.hpp"
#include "lib/io/shard.hpp"
#include "lib/tasks/dna/region_source.hpp"

namespace biogpu::tasks {

// An input of a model of DNA.
struct InputWindow {
  std::string key;
  std::string place;  // "regions.bed: line 3 (promoter)", for errors
  std::vector<genome::LetterCode> codes;
  std::size_t contig = 0;  // of a genome, where it begins; may lie before its first base
  std::int64_t begin = 0;
  // Bases of the contig that are wanted of it, where others give the rest; else none.
  std::int64_t wanted_begin = 0;
  std::int64_t wanted_end = 0;
};

// Windows of one length in the order of the input.
class WindowSource {
 public:
  struct File {
    std::string path;
    std::uint64_t n_windows = 0;
  };

  virtual ~WindowSource() = default;
  // False at the end.
  virtual bool next(InputWindow& window) = 0;
  // Of the genome; none where windows are records of files.
  virtual std::span<const genome::Contig> contigs() const { return {}; }
  // What was read so far.
  virtual std::vector<File> files() const = 0;
  // Records of files that did not fit and were skipped so far.
  virtual std::uint64_t n_skipped() const = 0;
};

// How records of files become windows.
struct FastaOptions {
  genome::Fit fit = genome::Fit::exact;
  io::Shard shard;  // of all records, which are counted first
  int n_threads = 1;
  io::BadRecords bad = io::BadRecords::refuse;
};

// Records of FASTA or FASTQ files. Errors: those of genome::FastaWindows and io::shard_files().
std::unique_ptr<WindowSource> make_fasta_source(std::vector<std::string> paths, std::int64_t length,
                                                const FastaOptions& options);

// Windows around the centres of regions of a genome, N beyond its ends. Errors: those of
// genome::IndexedFasta and RegionSource.
std::unique_ptr<WindowSource> make_genome_source(const GenomeRegions& regions, std::int64_t length,
                                                 const io::Shard& shard, io::BadRecords bad);

}  // namespace biogpu::tasks
