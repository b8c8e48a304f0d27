#include <memory>
#include <string>

#include "apps/biogpu/align/options/flags.hpp"
#include "apps/biogpu/align/run.hpp"
#include "apps/biogpu/command_line/command.hpp"
#include "apps/biogpu/run/process_end.hpp"

namespace biogpu::app {
namespace {

constexpr char kAlignFooter[] =
    "Columns: query target query_index target_index query_length target_length score strand\n"
    "  query_begin query_end target_begin target_end matches mismatches similar length gaps\n"
    "  gap_opens identity bits evalue cigar. Positions: 0-based, half-open, without free end "
    "gaps,\n"
    "  which a CIGAR holds. No read mapper: every query meets every target; no paired ends.\n"
    "  'biogpu align parasail -h' has the options of parasail_aligner.\n\n"
    "Examples:\n"
    "  biogpu align --mode sw --pairs --match 2 --mismatch -3 reads.fq.gz windows.fa -o out.tsv\n"
    "  biogpu align --mode sw --preset protein --top 10 --evalue 1e-3 queries.fa proteome.fa\n"
    "  biogpu align --mode nw --matrix blosum62 proteins.fa targets.fa --format sam | less\n\n";

}  // namespace

Run add_align(CLI::App& command) {
  const auto flags = std::make_shared<AlignFlags>();
  add_align_flags(command, *flags);
  command.footer(std::string(kAlignFooter) + kExitCodes);
  return [flags](const std::string& command_line) {
    flags->resolve();
    run_and_keep<AlignRun>(*flags, command_line);
  };
}

}  // namespace biogpu::app
