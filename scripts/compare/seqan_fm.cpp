// SeqAn2's FM-index and libdivsufsort, on a FASTA file of one record of A, C, G, T.
//
//   seqan_fm GENOME QUERIES              builds both indexes, counts the queries on both strands,
//   and
//                                        prints seconds and a checksum as JSON:
//                                        scripts/bench/bwt.py
//   seqan_fm index GENOME PREFIX         saves the FM-index: scripts/compare/seqan
//   seqan_fm count PREFIX QUERIES TABLE  the table of `biogpu bwt count`
#include <divsufsort.h>
#include <seqan/index.h>
#include <seqan/seq_io.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

using FmIndex = seqan::Index<seqan::DnaString, seqan::FMIndex<>>;
using Search = seqan::Iterator<FmIndex, seqan::TopDown<>>::Type;

struct Records {
  seqan::StringSet<seqan::CharString> names;
  seqan::StringSet<seqan::DnaString> sequences;
};

Records read_records(const char* path) {
  Records records;
  seqan::SeqFileIn file(path);
  seqan::readRecords(records.names, records.sequences, file);
  return records;
}

seqan::StringSet<seqan::DnaString> read(const char* path) { return read_records(path).sequences; }

std::uint64_t count_of(FmIndex& index, const seqan::DnaString& pattern) {
  Search it(index);
  return seqan::goDown(it, pattern) ? seqan::countOccurrences(it) : 0;
}

// Patterns are matched from their first letter on, so the text is reversed.
void save_index(const char* genome, const char* prefix) {
  seqan::DnaString reversed = read(genome)[0];
  seqan::reverse(reversed);
  FmIndex index(reversed);
  seqan::indexCreate(index, seqan::FibreSALF());
  seqan::save(index, prefix);
}

void count_queries(const char* prefix, const char* queries, const char* table) {
  FmIndex index;
  seqan::open(index, prefix);
  const Records records = read_records(queries);
  std::ofstream out(table);
  out << "#query\tforward\treverse\ttotal\n";
  for (std::size_t q = 0; q < seqan::length(records.sequences); ++q) {
    seqan::DnaString pattern = records.sequences[q];
    const std::uint64_t forward = count_of(index, pattern);
    seqan::reverseComplement(pattern);
    const std::uint64_t reverse = count_of(index, pattern);
    out << records.names[q] << '\t' << forward << '\t' << reverse << '\t' << forward + reverse
        << '\n';
  }
}

// FNV over the numbers in order, so that two programs can compare results in one word.
std::uint64_t mix(std::uint64_t sum, std::uint64_t value) {
  return (sum ^ value) * 1099511628211ull;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string(argv[1]) == "index") {
    save_index(argv[2], argv[3]);
    return 0;
  }
  if (argc == 5 && std::string(argv[1]) == "count") {
    count_queries(argv[2], argv[3], argv[4]);
    return 0;
  }
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

  seqan::DnaString reversed = genome[0];
  seqan::reverse(reversed);
  begin = Clock::now();
  FmIndex index(reversed);
  seqan::indexCreate(index, seqan::FibreSALF());
  const double build_s = seconds_since(begin);

  begin = Clock::now();
  std::uint64_t checksum = 14695981039346656037ull;
  for (std::size_t q = 0; q < seqan::length(queries); ++q) {
    seqan::DnaString pattern = queries[q];
    for (int strand = 0; strand < 2; ++strand) {
      checksum = mix(checksum, count_of(index, pattern));
      seqan::reverseComplement(pattern);
    }
  }
  const double count_s = seconds_since(begin);
  std::printf(
      "{\"divsufsort_s\": %.3f, \"build_s\": %.3f, \"count_s\": %.4f, \"checksum\": %llu}\n",
      divsufsort_s, build_s, count_s, static_cast<unsigned long long>(checksum));
}
