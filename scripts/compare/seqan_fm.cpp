// SeqAn2's FM-index and libdivsufsort, for scripts/bench/bwt.py: builds both for a FASTA file of
// one record of A, C, G, T, counts the queries on both strands, and prints seconds and checksums as
// JSON. usage: seqan_fm GENOME QUERIES
#include <divsufsort.h>
#include <seqan/index.h>
#include <seqan/seq_io.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

seqan::StringSet<seqan::DnaString> read(const char* path) {
  seqan::StringSet<seqan::CharString> names;
  seqan::StringSet<seqan::DnaString> sequences;
  seqan::SeqFileIn file(path);
  seqan::readRecords(names, sequences, file);
  return sequences;
}

// FNV over the numbers in order, so that two programs can compare results in one word.
std::uint64_t mix(std::uint64_t sum, std::uint64_t value) {
  return (sum ^ value) * 1099511628211ull;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const seqan::StringSet<seqan::DnaString> genome = read(argv[1]);
  const seqan::StringSet<seqan::DnaString> queries = read(argv[2]);
  const std::size_t n = seqan::length(genome[0]);

  std::vector<unsigned char> letters(n);
  for (std::size_t i = 0; i < n; ++i)
    letters[i] = static_cast<unsigned char>(seqan::ordValue(genome[0][i]));
  std::vector<std::int32_t> sa(n);
  auto begin = Clock::now();
  divsufsort(letters.data(), sa.data(), static_cast<std::int32_t>(n));
  const double divsufsort_s = seconds_since(begin);

  // Patterns are matched from their first letter on, so the text is reversed.
  seqan::DnaString reversed = genome[0];
  seqan::reverse(reversed);
  begin = Clock::now();
  seqan::Index<seqan::DnaString, seqan::FMIndex<>> index(reversed);
  seqan::indexCreate(index, seqan::FibreSALF());
  const double build_s = seconds_since(begin);

  begin = Clock::now();
  std::uint64_t checksum = 14695981039346656037ull;
  for (std::size_t q = 0; q < seqan::length(queries); ++q) {
    seqan::DnaString pattern = queries[q];
    for (int strand = 0; strand < 2; ++strand) {
      seqan::Iterator<seqan::Index<seqan::DnaString, seqan::FMIndex<>>, seqan::TopDown<>>::Type it(
          index);
      checksum = mix(checksum, seqan::goDown(it, pattern) ? seqan::countOccurrences(it) : 0);
      seqan::reverseComplement(pattern);
    }
  }
  const double count_s = seconds_since(begin);
  std::printf(
      "{\"divsufsort_s\": %.3f, \"build_s\": %.3f, \"count_s\": %.4f, \"checksum\": %llu}\n",
      divsufsort_s, build_s, count_s, static_cast<unsigned long long>(checksum));
}
