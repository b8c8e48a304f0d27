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

namespace biogpu::tasks {

// An input of a model of DNA.
struct InputWindow {
  std::string key;
  std::string place;  // "regions.bed: promoter", for errors
  std::vector<genome::LetterCode> codes;
  std::size_t contig = 0;  // of a genome, where it begins; may lie before its first base
  std::int64_t begin = 0;
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
};

// Records of FASTA or FASTQ files. Errors: those of genome::FastaWindows.
std::unique_ptr<WindowSource> make_fasta_source(std::vector<std::string> paths, std::int64_t length,
                                                genome::Fit fit, int n_threads);

struct GenomeRegions {
  std::string genome;                // FASTA
  std::string bed;                   // or empty
  std::vector<std::string> regions;  // samtools' form, after those of the BED file
};

// Windows around the centres of regions of a genome, N beyond its ends. Errors: those of
// genome::IndexedFasta, BedReader and parse_window.
std::unique_ptr<WindowSource> make_genome_source(const GenomeRegions& regions, std::int64_t length);

}  // namespace biogpu::tasks
