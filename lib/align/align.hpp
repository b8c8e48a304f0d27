#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/align/scoring.hpp"

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
  score,  // score alone
  ends,   // score and end positions
  cigar,  // score, begin and end positions, and the path
};

struct Options {
  Mode mode = Mode::local;
  FreeEnds free_ends;  // used by Mode::semiglobal
  Output output = Output::cigar;
  Scoring scoring;
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
// Output::ends the begins are 0. A local alignment of score 0 has all positions 0 and no CIGAR.
// Semi-global: begin .. end is the stretch that the score pays for; free end gaps lie outside of
// it, though the CIGAR holds them. A penalised end has begin 0. Global: 0 .. length - 1.
struct Alignment {
  std::int32_t score = 0;
  std::int32_t query_begin = 0;
  std::int32_t query_end = 0;
  std::int32_t target_begin = 0;
  std::int32_t target_end = 0;
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

// The plain full-matrix version that every other is held against. O(m n) time and memory per pair.
Alignments align_ref(const Work& work, const Options& options);

// Inter-sequence SIMD, 8-bit promoted to 16 and 32 where a score could leave the range, on
// n_threads threads. Same rows, bit for bit, for any n_threads and instruction set.
Alignments align_cpu(const Work& work, const Options& options, int n_threads);

// The instruction set that align_cpu uses here: "AVX3_DL", "AVX2", "SSE4" ...
std::string cpu_isa();

// Aligns on one GPU. Holds its streams, buffers and pinned memory between calls. Work of any size
// is cut into batches that fit the memory. One thread at a time. Abstract because a GPU backend may
// be a module opened at run time (lib/core/gpu_backend.hpp).
class GpuAligner {
 public:
  virtual ~GpuAligner() = default;
  virtual Alignments align(const Work& work) = 0;
  virtual double device_seconds() const = 0;            // kernels alone, summed
  virtual std::uint64_t peak_device_bytes() const = 0;  // allocated at most
};

// max_device_bytes: 0 takes what is free. Throws Error{device} where the build or machine has no
// such device and Error{device_memory} where not even the smallest batch fits.
std::unique_ptr<GpuAligner> make_gpu_aligner(int device, const Options& options,
                                             std::uint64_t max_device_bytes);

// Query residues times target residues, summed over the pairs: the unit of GCUPS.
std::uint64_t count_cells(const Work& work);

// The score that a path is worth; throws Error{failed} if it does not consume exactly the residues
// between begin and end. Free end gaps cost nothing. For tests and --verify.
std::int64_t rescore(const Work& work, const Options& options, const Pair& pair,
                     const Alignment& alignment, std::span<const std::uint32_t> cigar);

}  // namespace biogpu::align
