#pragma once

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "lib/kmer/count/cpu_counter.hpp"
#include "lib/kmer/database/reader.hpp"
#include "lib/kmer/database/writer.hpp"
#include "tests/unit/kmer/naive.hpp"

namespace biogpu::test {

// A file that lives as long as this.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& suffix = "") {
    static int n = 0;
    path_ =
        "/tmp/biogpu-kmer-test-" + std::to_string(getpid()) + "-" + std::to_string(n++) + suffix;
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  std::string read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline kmer::Header header_for(int k, std::uint64_t size, bool canonical,
                               kmer::Format format = kmer::Format::jellyfish) {
  kmer::Header header;
  header.format = format;
  header.k = k;
  header.canonical = canonical;
  header.order = kmer::order_of_format(format, k, size);
  return header;
}

// Counts sequences into a database.
inline void write_database(const TemporaryFile& file, const kmer::Header& header,
                           const std::vector<std::string>& sequences) {
  kmer::CountOptions options;
  options.k = header.k;
  options.canonical = header.canonical;
  options.order = header.order;
  kmer::CpuCounter counter(options);
  add_all(counter, sequences);
  counter.finish();
  kmer::DatabaseWriter writer(file.path(), header);
  for (kmer::Counter::Bucket bucket; counter.next(bucket);) {
    counter.fetch(bucket);
    writer.write(bucket.counts);
  }
  writer.commit();
}

inline NaiveCounts read_database(const std::string& path) {
  kmer::DatabaseReader reader(path);
  NaiveCounts counts;
  for (kmer::CountBlock block; reader.read(block);)
    for (std::size_t i = 0; i < block.size(); ++i) {
      std::string letters;
      kmer::append_letters(block.key(i), reader.header().k, letters);
      counts[letters] += block.counts[i];
    }
  return counts;
}

}  // namespace biogpu::test
