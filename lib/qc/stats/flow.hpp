#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace biogpu::qc {

// Where a read of the input went; each has one.
enum class Fate : unsigned char {
  passed,       // with its mate: what outputs hold unless there are none; merged mates are two
  unpaired,     // to --unpaired1 or 2, as its mate fails
  filtered,     // by a filter, or with its mate
  duplicate,    // passes, and --dedup drops it
  index_listed  // by --filter_by_index1 or 2
};
inline constexpr std::size_t kFates = 5;

// The reads of a run by their fate. That all are there is checked against what was read.
struct Flow {
  std::array<std::uint64_t, kFates> reads{};
  std::array<std::uint64_t, kFates> bases{};  // of those reads, as they came
  std::uint64_t bases_out = 0;                // of passed and unpaired ones, as they are written

  void count(Fate fate, int n_bases) {
    ++reads[static_cast<std::size_t>(fate)];
    bases[static_cast<std::size_t>(fate)] += static_cast<std::uint64_t>(n_bases);
  }
  void add(const Flow& other) {
    for (std::size_t f = 0; f < kFates; ++f) {
      reads[f] += other.reads[f];
      bases[f] += other.bases[f];
    }
    bases_out += other.bases_out;
  }
  std::uint64_t reads_of(Fate fate) const { return reads[static_cast<std::size_t>(fate)]; }
  std::uint64_t bases_of(Fate fate) const { return bases[static_cast<std::size_t>(fate)]; }
  std::uint64_t reads_in() const { return sum(reads); }
  std::uint64_t bases_in() const { return sum(bases); }
  std::uint64_t reads_out() const { return reads_of(Fate::passed) + reads_of(Fate::unpaired); }
  // Bases of written reads that trimming took off, or that merged mates share.
  std::uint64_t bases_trimmed() const {
    return bases_of(Fate::passed) + bases_of(Fate::unpaired) - bases_out;
  }
  // Bases of reads that are not written.
  std::uint64_t bases_removed() const { return bases_in() - bases_out - bases_trimmed(); }

 private:
  static std::uint64_t sum(const std::array<std::uint64_t, kFates>& all) {
    return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
  }
};

}  // namespace biogpu::qc
