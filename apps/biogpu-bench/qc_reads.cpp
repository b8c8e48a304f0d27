#include "apps/biogpu-bench/qc_reads.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/core/complement.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::bench {
namespace {

constexpr std::size_t kReadLength = 150;
constexpr std::size_t kGenomeLength = 1000000;
constexpr std::size_t kShortest = 50;
constexpr std::size_t kLongest = 450;
constexpr char kAdapter1[] = "AGATCGGAAGAGCACACGTCTGAACTCCAGTCA";
constexpr char kAdapter2[] = "AGATCGGAAGAGCGTCGTGTAGGGAAAGAGTGT";
constexpr std::size_t kPieceBytes = 4u << 20;

}  // namespace

PairMaker::PairMaker(unsigned seed) : rng_(seed), genome_(kGenomeLength, 'A') {
  for (char& base : genome_) base = "ACGT"[rng_() >> 8 & 3];
}

void PairMaker::copy_fragment() {
  const std::size_t length = kShortest + rng_() % (kLongest - kShortest + 1);
  const std::size_t at = rng_() % (kGenomeLength - kLongest);
  fragment_.assign(genome_, at, length);
  reversed_.assign(fragment_.rbegin(), fragment_.rend());
  for (char& base : reversed_) base = complement_iupac(base);
  if (rng_() % 2 == 0) std::swap(fragment_, reversed_);
}

void PairMaker::make_read(const std::string& fragment, const char* adapter, Read& read) {
  read.sequence.assign(fragment, 0, kReadLength);
  if (read.sequence.size() < kReadLength) read.sequence += adapter;
  while (read.sequence.size() < kReadLength) read.sequence += "ACGT"[rng_() >> 8 & 3];
  read.sequence.resize(kReadLength);
  read.quality.resize(kReadLength);
  const std::uint32_t shape = rng_() % 8;  // three of eight reads fall
  const std::uint32_t fall = shape < 5 ? 0 : shape - 4;
  for (std::size_t i = 0; i < kReadLength; ++i) {
    const std::uint32_t draw = rng_();
    const std::uint32_t noise = (draw & 7) < 5 ? 0 : draw >> 3 & 3;
    read.quality[i] = static_cast<char>('I' - noise - fall * i / 16);
    if ((draw >> 8) % 100 != 0) continue;
    read.sequence[i] = (draw >> 20) % 16 == 0 ? 'N' : "ACGT"[draw >> 24 & 3];
    read.quality[i] = "#-"[draw >> 26 & 1];
  }
}

void PairMaker::next(Read& read1, Read& read2) {
  if (fragment_.empty() || rng_() % 20 != 0) copy_fragment();
  make_read(fragment_, kAdapter1, read1);
  make_read(reversed_, kAdapter2, read2);
}

void write_pairs(std::uint64_t n, unsigned seed, const std::string& path1,
                 const std::string& path2) {
  io::OutputFile file1(path1);
  io::OutputFile file2(path2);
  PairMaker maker(seed);
  PairMaker::Read reads[2];
  fmt::memory_buffer text[2];
  for (std::uint64_t i = 0; i < n; ++i) {
    maker.next(reads[0], reads[1]);
    for (int m = 0; m < 2; ++m)
      fmt::format_to(std::back_inserter(text[m]),
                     "@SIM:1:FLOWCELL:1:{}:{}:{} {}:N:0:ACGTACGT\n{}\n+\n{}\n", 1101 + i / 100000,
                     i % 100000, i * 7919 % 90000, m + 1, reads[m].sequence, reads[m].quality);
    if (text[0].size() < kPieceBytes && i + 1 < n) continue;
    file1.write({text[0].data(), text[0].size()});
    file2.write({text[1].data(), text[1].size()});
    text[0].clear();
    text[1].clear();
  }
  file1.commit();
  file2.commit();
}

}  // namespace biogpu::bench
