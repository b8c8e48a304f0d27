#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/biogpu/align_units.hpp"
#include "lib/align/align.hpp"
#include "lib/io/sam_writer.hpp"

namespace biogpu::app {

// The output of one unit, made by the worker so that the writer only copies bytes.
struct Rows {
  std::string text;                    // TSV lines
  std::vector<io::SamRecord> records;  // views into the unit's blocks and into cigar
  std::vector<std::uint32_t> cigar;
};

// Column names in the first line. Positions are 0-based and half-open.
std::string tsv_header(align::Output output);

// One line per pair. An alignment without a path has "*" as its CIGAR.
void make_tsv(const Unit& unit, const align::Alignments& alignments, const align::Options& options,
              Rows& rows);

// One record per pair: POS at the first aligned target base; free end gaps of the target are
// dropped and free ends of the query, or what local alignment leaves out, are soft-clipped. FLAG 4
// where nothing is aligned. NM counts X, I and D of the CIGAR as printed.
void make_sam(const Unit& unit, const align::Alignments& alignments, const align::Options& options,
              Rows& rows);

}  // namespace biogpu::app
