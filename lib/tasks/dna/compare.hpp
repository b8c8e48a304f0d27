#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lib/bio/genome/letters.hpp"
#include "lib/models/base/dna_model.hpp"

namespace biogpu::tasks {

// Bins [begin, end) of a window, in the order of the genome; may be empty.
struct BinRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  bool operator==(const BinRange&) const = default;
};

// Which bins of a window are compared. Bases are counted from the window's first, before it is
// shifted: a shifted window has other bins there.
struct BinTarget {
  enum class Kind {
    all,
    around,    // `width` bins, of which bin width / 2 holds base `begin`
    covering,  // those that hold bases of [begin, end)
  };
  Kind kind = Kind::all;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t width = 0;

  bool operator==(const BinTarget&) const = default;
};

// The bins of `grid` in the window moved by `shift` letters, cut to the bins that there are.
BinRange find_bins(const BinTarget& target, const models::BinGrid& grid, std::int64_t shift);

// A window's reference and sequences to compare with it.
struct Comparison {
  // Writes the reference (0) or alternate i (from 1) of the window moved by `shift` letters.
  std::function<void(std::size_t i, std::int64_t shift, std::span<genome::LetterCode> letters)>
      write_letters;
  // Of each alternate, what is compared.
  std::vector<std::vector<BinTarget>> targets;

  std::size_t n_alternates() const { return targets.size(); }
};

enum class Reduction { mean, sum };  // over the bins of a range

struct CompareOptions {
  Reduction reduction = Reduction::mean;
  bool both_strands = false;
  // Shifts of windows. A prediction is the mean over the windows in which its target has bins.
  std::vector<std::int64_t> shifts = {0};
  std::uint8_t unknown = 4;  // the model's code of an unknown letter
  std::int64_t windows_per_pass = 1;
  // Whether near windows are computed from what was kept of the reference.
  bool reuse = true;
  // Bytes of the device's memory for what is kept of references at a time, and at most
  // DnaModel::room_for_kept(): fewer windows where it is short, and no reuse where it is less than
  // one of them has.
  std::uint64_t max_kept_bytes = std::uint64_t{2} << 30;
};

// Memory that is kept of one reference; 0 where a model keeps nothing.
std::uint64_t kept_bytes(const models::DnaModel& model);

// Results of one alternate: [targets, tracks], the tracks of all loaded heads next to each other.
struct Compared {
  std::vector<double> reference;
  std::vector<double> alternate;
};

// Of all alternates of all comparisons, one after the other. A comparison costs one pass over its
// reference for each shift and strand. Throws Error{usage} for a loaded head whose rows are no
// bins.
std::vector<Compared> compare_windows(models::DnaModel& model,
                                      std::span<const Comparison> comparisons,
                                      const CompareOptions& options);

// Tracks of all loaded heads that are in the output.
std::size_t count_tracks(const models::DnaModel& model);

}  // namespace biogpu::tasks
