#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/align/scoring/scoring.hpp"

namespace biogpu::align {

// Which ends of which sequence may stay unaligned at no cost. Local alignment ignores them.
struct FreeEnds {
  bool query_begin = false;
  bool query_end = false;
  bool target_begin = false;
  bool target_end = false;
};

enum class Mode {
  global,      // Needleman-Wunsch: both sequences end to end
  semiglobal,  // the ends in FreeEnds are free; all four for "sg"
  local,       // Smith-Waterman: the best-scoring stretch of both
};

enum class Output {
  score,       // score alone
  ends,        // score and end positions
  statistics,  // score, end positions and statistics of the path
  cigar,       // score, begin and end positions, statistics and the path
};

inline constexpr std::int64_t kNoBand = -1;
inline constexpr std::int32_t kNoXdrop = -1;

struct Options {
  Mode mode = Mode::local;
  FreeEnds free_ends;  // used by Mode::semiglobal
  Output output = Output::cigar;
  Scoring scoring;

  // Half width of a band, 0 or more, or kNoBand. For m query and n target residues paths keep to
  // the cells with
  //   min(0, n - m) - band <= j - i <= max(0, n - m) + band,
  // i and j being positions in query and target and -1 on the border, in every mode: the diagonals
  // that join corners, and `band` more on either side. Global: that of Parasail's nw_banded.
  std::int64_t band = kNoBand;

  // With Mode::local, 0 or more turns the alignment into an extension with X-drop: it begins at the
  // first residue of both sequences, leading gaps cost what they cost in a global alignment, and it
  // ends at the best cell anywhere. Cells are visited by anti-diagonals; with T the greatest H of
  // all earlier ones (0 at the begin), a cell of H < T - xdrop takes no part in any path, border
  // cells included (Z. Zhang et al., doi:10.1089/10665270050081478). Ends and rows are those of a
  // local alignment, score 0 meaning that nothing was worth aligning. Else kNoXdrop.
  std::int32_t xdrop = kNoXdrop;
};

// Sequences as residue classes (Scoring::class_of applied), concatenated.
// residues[begin[i] .. begin[i + 1]) is sequence i; begin has size() + 1 entries.
struct SequenceSet {
  std::span<const std::uint8_t> residues;
  std::span<const std::uint64_t> begin;
  std::size_t size() const { return begin.empty() ? 0 : begin.size() - 1; }
  std::uint64_t length(std::size_t i) const { return begin[i + 1] - begin[i]; }
  std::span<const std::uint8_t> sequence(std::size_t i) const {
    return residues.subspan(begin[i], length(i));
  }
};

struct Pair {
  std::uint32_t query = 0;   // index into Work::queries
  std::uint32_t target = 0;  // index into Work::targets
};

// Borrowed views: the caller keeps the memory alive for the length of the call.
struct Work {
  SequenceSet queries;
  SequenceSet targets;
  std::span<const Pair> pairs;
};

// Positions are 0-based; ends are inclusive as in Parasail. An alignment without a single aligned
// residue of a sequence has begin = end + 1 there. With Output::score the positions are 0 and with
// Output::ends and ::statistics the begins are 0. A local alignment of score 0 has all positions
// and statistics 0 and no CIGAR. Semi-global: begin .. end is the stretch that the score pays for;
// free end gaps lie outside of it, though the CIGAR holds them. A penalised end has begin 0.
// Global: 0 .. length - 1. Statistics are Parasail's: `length` counts the columns of the path but
// for the gap run along the border of the matrix that the path begins with, paid or not, and a free
// gap at its end.
struct Alignment {
  std::int32_t score = 0;
  std::int32_t query_begin = 0;
  std::int32_t query_end = 0;
  std::int32_t target_begin = 0;
  std::int32_t target_end = 0;
  std::int32_t matches = 0;       // columns of two residues of one class
  std::int32_t similar = 0;       // columns of two residues that score above 0
  std::int32_t length = 0;        // columns
  std::uint32_t n_cigar = 0;      // operations
  std::uint64_t cigar_begin = 0;  // index of the first in Alignments::cigar
};

// One row per pair, in the order of Work::pairs.
// cigar: BAM coding, length << 4 | op, with op 1 = I (query only), 2 = D (target only), 7 = '=',
// 8 = X; '=' when both residues are of the same class. Global and semi-global paths include their
// end gaps, free or not, as Parasail's do; local paths hold the aligned stretch alone.
struct Alignments {
  std::vector<Alignment> rows;
  std::vector<std::uint32_t> cigar;
};

inline constexpr std::uint32_t kCigarInsertion = 1;
inline constexpr std::uint32_t kCigarDeletion = 2;
inline constexpr std::uint32_t kCigarEqual = 7;
inline constexpr std::uint32_t kCigarMismatch = 8;

// Ties are broken as Parasail breaks them, so that every backend reports one well-defined path:
// H prefers the diagonal, then F (insertion), then E (deletion); a gap opens only if strictly
// better than extending; local ends at the smallest target_end, then the smallest query_end;
// semi-global prefers the last row over the last column and the smallest position on either.
//
// A query may also be a position-specific profile of up to kMaxClasses rows: its classes are then
// row numbers and Scoring::score holds the profile. Longer profiles do not fit the classes.

// The plain full-matrix version that every other is held against. O(m n) time and memory per pair.
Alignments align_ref(const Work& work, const Options& options);

// Inter-sequence SIMD, 8-bit promoted to 16 and 32 where a score could leave the range, on
// n_threads threads. Same rows, bit for bit, for any n_threads and instruction set.
Alignments align_cpu(const Work& work, const Options& options, int n_threads);

// Aligns on one GPU. Holds its streams, buffers and pinned memory between calls. Work of any size
// is cut into batches that fit the memory. One thread at a time. Abstract because a GPU backend may
// be a module opened at run time (lib/core/gpu_backend.hpp).
class GpuAligner {
 public:
  virtual ~GpuAligner() = default;
  Alignments align(const Work& work) { return align(work, {}); }
  // spare: an older result that is no longer needed. New rows take its memory, as fresh memory
  // for many short pairs costs more than their kernels.
  virtual Alignments align(const Work& work, Alignments spare) = 0;
  virtual double device_seconds() const = 0;            // kernels alone, summed
  virtual std::uint64_t peak_device_bytes() const = 0;  // allocated at most
};

// max_device_bytes: 0 takes what is free. Throws Error{device} where the build or machine has no
// such device and Error{device_memory} where not even the smallest batch fits.
std::unique_ptr<GpuAligner> make_gpu_aligner(int device, const Options& options,
                                             std::uint64_t max_device_bytes);

// H of every cell, [query residue][target residue], without a band or X-drop. Throws Error{failed}
// where scores could leave 32 bits.
std::vector<std::int32_t> score_matrix(const Options& options, std::span<const std::uint8_t> query,
                                       std::span<const std::uint8_t> target);

// Query residues times target residues, summed over the pairs: the unit of GCUPS.
std::uint64_t count_cells(const Work& work);

// The score that a path is worth; throws Error{failed} if it does not consume exactly the residues
// between begin and end. Free end gaps cost nothing. For tests and --verify.
std::int64_t rescore(const Work& work, const Options& options, const Pair& pair,
                     const Alignment& alignment, std::span<const std::uint32_t> cigar);

}  // namespace biogpu::align
