#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "lib/io/sequence_reader.hpp"

namespace biogpu::test {

// A folder of its own for one test, removed with what it holds.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string path(std::string_view name) const;
  // Names of the files in it, sorted, hidden ones included.
  std::vector<std::string> names() const;
  // Writes a file and returns its path.
  std::string file(std::string_view name, std::string_view bytes) const;

 private:
  std::string folder_;
};

std::string read_file(const std::string& path);

// Compression by zlib, as an implementation that is not the product's.
std::string gzip(std::string_view text);
std::string gunzip(std::string_view packed);  // all members
// BGZF by htslib, with its end marker.
std::string bgzf(const TempFolder& folder, std::string_view text);

struct Read {
  std::string name;
  std::string comment;
  std::string sequence;
  std::string quality;
  bool operator==(const Read&) const = default;
};
// How a failed check shows a read.
std::ostream& operator<<(std::ostream& to, const Read& read);

// All records of a file, through batches of the given limits.
std::vector<Read> read_all(const std::string& path, int n_threads = 1,
                           const io::BatchLimits& limits = {});

// The message of the Error that reading the file to its end throws; "no error" where none.
std::string error_of(const std::string& path, int n_threads = 1);

// Records as FASTA or FASTQ text. width: residues on a line, 0 for one line.
std::string fasta(const std::vector<Read>& reads, std::size_t width, std::string_view newline);
std::string fastq(const std::vector<Read>& reads, std::string_view newline);

// n reads of random length up to max_length, with letters, '*' and '-', from a seed.
std::vector<Read> random_reads(unsigned seed, std::size_t n, std::size_t max_length,
                               bool with_quality);

}  // namespace biogpu::test
