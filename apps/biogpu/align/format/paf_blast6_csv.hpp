#pragma once

#include <string>

#include "apps/biogpu/align/format/row.hpp"

namespace biogpu::app {

// PAF of minimap2 with AS, NM and cg tags; no line where nothing is aligned. Query positions are on
// the strand as given, as in PAF.
void append_paf(std::string& out, const Row& row, const align::Options& options, CigarStyle cigar);

// BLAST's tabular output (-outfmt 6): qseqid sseqid pident length mismatch gapopen qstart qend
// sstart send evalue bitscore; no line where nothing is aligned. 1-based, inclusive; on the reverse
// strand sstart is greater than send.
void append_blast6(std::string& out, const Row& row, const align::Options& options);

// Parasail's CSV: query_index,target_index,query_length,target_length,score,query_end,target_end,
// from 0 and inclusive, with Output::statistics followed by matches,similar,length. tells_strand:
// and by + or -; query_end is that in the query as given, known by the path.
void append_csv(std::string& out, const Row& row, align::Output output, bool tells_strand);

}  // namespace biogpu::app
