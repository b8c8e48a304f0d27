#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace biogpu::qc {

// Letters are told apart by their low three bits, as fastp does: A 1, C 3, T 4, N 6, G 7, of either
// case; others count in the totals alone.
inline constexpr int kLetters = 5;
inline constexpr std::array<std::uint8_t, kLetters> kLetterCode = {1, 4, 3, 7, 6};  // A T C G N
inline constexpr int kKmers = 1024;  // 5-mers, base 4, first base highest, A 0, T 1, C 2, G 3

// Sums over reads, by cycle (position in the read).
struct CycleSums {
  std::array<std::uint64_t, kLetters> bases{};       // ATCGN
  std::array<std::int64_t, kLetters - 1> quality{};  // Phred, ATCG
  std::uint64_t all_bases = 0;
  std::int64_t all_quality = 0;
};

// What the report says about a set of reads.
struct ReadStats {
  std::uint64_t n_reads = 0;
  std::uint64_t n_bases = 0;
  std::uint64_t q20_bases = 0;
  std::uint64_t q30_bases = 0;
  std::uint64_t q40_bases = 0;
  std::vector<CycleSums> cycles;
  std::array<std::uint64_t, kKmers> kmers{};

  std::uint64_t gc_bases() const;
  void add(const ReadStats& other);
};

// Sums in narrow integers, by blocks of kBlock cycles, so that one vector holds many cycles.
struct NarrowSums {
  static constexpr int kBlock = 64;
  static constexpr int kMaxReads = 255;  // until one may overflow

  std::vector<std::uint8_t> bases;  // [n_blocks][kLetters][kBlock]
  // Phred of A, T, C, G and of all; even cycles, then odd ones.
  std::vector<std::uint16_t> quality;  // [n_blocks][5][2][kBlock / 2]
  std::vector<std::uint32_t> kmers;    // [2 * kKmers]: windows with another letter in the second
  std::vector<std::uint8_t> codes;     // scratch: a read's bases as kernels look at them
  std::uint64_t q20 = 0;
  std::uint64_t q30 = 0;
  std::uint64_t q40 = 0;
};

// Adds up reads for a ReadStats.
class StatsAdder {
 public:
  StatsAdder();

  void count_read() { ++stats_.n_reads; }

  // Adds the bases [from, length) of a sequence to the cycles from, from + 1, ... and the 5-mers
  // that end in them. Both strings are readable for 64 bytes behind length.
  void add(const char* sequence, const char* quality, int length, int from = 0);
  // The same, base by base.
  void add_ref(const char* sequence, const char* quality, int length, int from = 0);

  // All that was added. Leaves the adder empty.
  ReadStats take();

 private:
  void reserve(int length);
  void carry();

  ReadStats stats_;
  int n_cycles_ = 0;  // room: a multiple of kBlock
  int n_added_ = 0;   // calls since the narrow sums were carried over
  NarrowSums narrow_;
  std::vector<std::int64_t>
      steps_;  // [n_cycles + 1]: reads that begin at a cycle minus those ended
};

// Adds the bases [from, length) to narrow sums that have room for them. Returns false, with nothing
// added, when a quality symbol is no Phred + 33 of 0 to 93.
bool add_narrow(const char* sequence, const char* quality, int length, int from, NarrowSums& sums);

}  // namespace biogpu::qc
