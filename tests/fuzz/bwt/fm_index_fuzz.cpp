// The native FM-index: a file whose checksum is right is refused, or every search, extraction and
// count in it stays inside the file and ends.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "lib/bwt/fm/fm_index.hpp"
#include "lib/bwt/fm/fm_search.hpp"
#include "tests/fuzz/support/expect_error.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;

namespace {

constexpr std::uint64_t kMaxExtracted = 10000;

void use(const bwt::FmIndex& index) {
  bwt::PatternSet patterns;
  for (const char* const letters : {"A", "ACG", "GATTACA", "TTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTT",
                                    "ACGTTGCATGCAAGGCTTACGATCGGATCNAGGCTAGCTA"})
    patterns.append(letters);
  bwt::CpuSearch search(index);
  std::vector<bwt::Hit> hits;
  for (const std::uint32_t k : {0, 1})
    bwt::locate_patterns(index, search, patterns, 0, patterns.size(), k, hits);
  for (const bwt::Hit& hit : hits) {
    fuzz::require(hit.contig < index.contigs().size(), "a place in no record");
    fuzz::require(hit.begin < index.contigs()[hit.contig].length, "a place behind its record");
  }
  std::vector<bwt::Probe> probes;
  for (std::uint32_t p = 0; p < patterns.size(); ++p) probes.push_back({p, 0, patterns[p].length});
  std::vector<std::uint64_t> counts(probes.size());
  search.count(patterns, probes, counts);
  for (std::uint64_t c = 0; c < index.contigs().size(); ++c) {
    const std::uint64_t end = std::min(index.contigs()[c].length, kMaxExtracted);
    fuzz::require(index.extract(c, 0, end).size() == end, "letters of a record");
  }
  fuzz::require(index.count_runs() <= index.header().n_rows, "more runs than rows");
}

void repair(std::string& content) {
  if (content.size() < sizeof(bwt::FmHeader)) return;
  bwt::FmHeader header;
  std::memcpy(&header, content.data(), sizeof header);
  std::memcpy(header.mark, bwt::kFmMark, sizeof header.mark);
  header.version = bwt::kFmVersion;
  header.file_bytes = content.size();
  std::memcpy(content.data(), &header, sizeof header);
  header.checksum =
      bwt::fm_checksum(reinterpret_cast<const std::uint8_t*>(content.data()), content.size(), 1);
  std::memcpy(content.data(), &header, sizeof header);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const fuzz::MemoryFile file(bytes, n);
  fuzz::expect_error_of(file.path(), [&] { use(bwt::FmIndex::open(file.path(), 1)); });
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  fuzz::Format format;
  format.repair = repair;
  return fuzz::mutate_file(data, size, max_size, seed, format);
}
