#pragma once

#include <span>
#include <string>

#include "lib/bio/genome/tracks/signal.hpp"
#include "lib/io/output/atomic_file.hpp"

namespace biogpu::genome {

// Whether this build has libBigWig.
bool has_bigwig();

// Whether a signal of these contigs can be written there: throws Error{usage} where the build lacks
// libBigWig, for a pipe and for contigs longer than the format holds.
void check_bigwig(const io::output::AtomicFile& file, std::span<const Contig> contigs);

// Writes sorted runs as bigWig into a file that check_bigwig() takes, with the contigs that have
// values, by name. Throws Error{failed} where
// the file cannot be written.
void write_bigwig(const io::output::AtomicFile& file, std::span<const Contig> contigs,
                  std::span<const SignalRun> runs);

}  // namespace biogpu::genome
