#pragma once

#include <cstddef>

#include "lib/io/char_buffer.hpp"
#include "lib/qc/batch/fastq_format.hpp"
#include "lib/qc/input/fastq_chunk.hpp"
#include "lib/qc/steps/mate.hpp"

namespace biogpu::qc {

// A read with its name.
struct Record : TrimmedRead {
  Mate umi_cut;  // after the UMI: what --failed_out shows of a dropped read
  FastqHeader text;

  // As written to --failed_out: dropped reads were not changed.
  const Mate& failed() const { return mate.dropped ? umi_cut : mate; }
};

Mate whole_read(FastqChunk& chunk, std::size_t index);
Record open_record(FastqChunk& chunk, std::size_t index);

// Qualities of offset 64 as those of offset 33.
void convert_phred64(const Mate& mate);

// The first from1 bases of mate 1, then the last from2 of mate 2 reverse-complemented, in buffers
// that hold them until the next call.
Mate merge_mates(const Mate& mate1, const Mate& mate2, int from1, int from2,
                 io::CharBuffer& sequence, io::CharBuffer& quality);

}  // namespace biogpu::qc
