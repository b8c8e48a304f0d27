#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "lib/bio/genome/contig.hpp"

namespace biogpu::genome {

// Bins of equal width that follow each other on a contig.
struct SignalRun {
  std::size_t contig = 0;
  std::int64_t begin = 0;  // from 0
  std::int64_t bin = 0;    // letters
  std::vector<float> values;
  std::string place;  // of the region that they are of, for errors

  std::int64_t end() const { return begin + bin * std::ssize(values); }
};

// The values of one track along a genome, which windows give in any order.
class Signal {
 public:
  explicit Signal(std::span<const Contig> contigs) : contigs_(contigs.begin(), contigs.end()) {}

  // Adds the bins of a window. What lies outside of the contig is cut off; values that are not
  // finite are left out.
  void add(SignalRun run);

  const std::vector<Contig>& contigs() const { return contigs_; }
  // In the order of the genome. Throws Error{bad_input} where two windows overlap, with their
  // places: files of signals have one value at a place.
  std::span<const SignalRun> sorted();

 private:
  void add_finite(SignalRun run);

  std::vector<Contig> contigs_;
  std::vector<SignalRun> runs_;
};

// Which places of a genome windows take, to refuse one that overlaps before it is computed.
class SignalPlaces {
 public:
  explicit SignalPlaces(std::span<const Contig> contigs)
      : contigs_(contigs.begin(), contigs.end()), taken_(contigs.size()) {}

  // The letters [begin, end) that the bins of a window lie on; those outside of the contig do not
  // count. Throws what Signal::sorted() does.
  void take(std::size_t contig, std::int64_t begin, std::int64_t end, const std::string& place);

 private:
  struct Taken {
    std::int64_t end = 0;
    std::string place;
  };

  std::vector<Contig> contigs_;
  std::vector<std::map<std::int64_t, Taken>> taken_;  // of each contig, by begin
};

}  // namespace biogpu::genome
