#pragma once

#include <span>
#include <string>

#include "lib/bio/genome/signal.hpp"
#include "lib/io/output/target_file.hpp"

namespace biogpu::genome {

// Whether this build has libBigWig.
bool has_bigwig();

// Writes sorted runs as bigWig into a file that is a regular one, by libBigWig. Throws
// Error{usage} where the build lacks it, for a pipe and for contigs longer than the format holds;
// Error{failed} where the file cannot be written.
void write_bigwig(const io::output::TargetFile& file, std::span<const Contig> contigs,
                  std::span<const SignalRun> runs);

}  // namespace biogpu::genome
