#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/biogpu/align/format/row.hpp"
#include "lib/io/alignments/sam_writer.hpp"

namespace biogpu::app {

// What SAM records of a unit look at besides the unit itself. Reserve both for the whole unit
// before the first record: they must not move.
struct SamStore {
  std::vector<std::uint32_t> cigar;
  std::string qualities;  // reversed ones
};

inline constexpr std::uint16_t kSamUnmapped = 4;
inline constexpr std::uint16_t kSamReverse = 16;
inline constexpr std::uint16_t kSamSecondary = 256;

// Whether SAM has a place for the alignment: it pairs two residues. path: whole or shown.
bool has_place(const align::Alignment& alignment, std::span<const std::uint32_t> path,
               const align::Options& options);

// POS at the first aligned target base; free end gaps of the target are dropped and free ends of
// the query, or what local alignment leaves out, are soft-clipped. FLAG 4 and MAPQ 0 where nothing
// is aligned, 16 for the reverse strand, whose residues and qualities are then turned round. NM
// counts X, I and D of the CIGAR as printed.
io::SamRecord make_sam_record(const Row& row, const align::Options& options, CigarStyle cigar,
                              SamStore& store);

// The record of a read without an alignment among the rows.
io::SamRecord make_unaligned_record(std::string_view name, std::string_view sequence,
                                    std::string_view quality);

// The line that `parasail_aligner -O SAM` writes: CIGAR from end to end, a tab at the end, residues
// and tags missing where the score is 0.
void append_parasail_sam(std::string& out, const Row& row, const align::Options& options);

}  // namespace biogpu::app
