#include "apps/biogpu/kmer_count_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "lib/core/error.hpp"
#include "lib/kmer/database/writer.hpp"
#include "lib/kmer/key.hpp"

namespace biogpu::app {

char CountFlags::least_quality() const {
  if (!min_qual_char.empty()) return min_qual_char[0];
  return min_quality >= 0 ? static_cast<char>(std::min(quality_start + min_quality, 127)) : '\0';
}

kmer::Format CountFlags::format() const {
  return text ? kmer::Format::jellyfish_text : kmer::format_of_name(out_path);
}

void CountFlags::resolve() {
  if (min_qual_char.size() > 1)
    throw Error(ErrorCode::usage, fmt::format("-Q '{}'; expected one character", min_qual_char));
  if (tmp_dir.empty()) {
    const char* folder = std::getenv("TMPDIR");
    tmp_dir = folder != nullptr && *folder != '\0' ? folder : "/tmp";
  }
  shared.resolve();
}

void add_count_flags(CLI::App& command, CountFlags& flags) {
  constexpr char kFilter[] = "Filters";
  constexpr char kOutput[] = "Output";
  command.add_option("FILE", flags.inputs, "sequence files; - is standard input")
      ->required()
      ->option_text(" ");
  command.add_option("-m,--mer-len", flags.k, "k, the length of a k-mer")
      ->required()
      ->check(CLI::Range(1, kmer::kMaxK))
      ->option_text("N");
  command
      .add_flag("-C,--canonical", flags.canonical,
                "count a k-mer and its reverse complement as one")
      ->option_text(" ");
  command
      .add_option("-s,--size", flags.size,
                  "as for Jellyfish: decides the order of the records, nothing else\n[2^30]")
      ->transform(decimal_size())
      ->option_text("N");
  command
      .add_option("-Q,--min-qual-char", flags.min_qual_char,
                  "bases whose quality symbol is lower than this count as N")
      ->option_text("CHAR")
      ->group(kFilter);
  command
      .add_option("--min-quality", flags.min_quality,
                  "the same as a number, added to --quality-start")
      ->check(CLI::Range(0, 127))
      ->option_text("N")
      ->group(kFilter);
  command.add_option("--quality-start", flags.quality_start, "symbol of quality 0 [64]")
      ->check(CLI::Range(0, 127))
      ->option_text("N")
      ->group(kFilter);
  command.add_option("-L,--lower-count", flags.bounds.lower, "leave out k-mers with a lower count")
      ->option_text("N")
      ->group(kFilter);
  command
      .add_option("-U,--upper-count", flags.bounds.upper, "leave out k-mers with a higher count")
      ->option_text("N")
      ->group(kFilter);
  command
      .add_option("-o,--output", flags.out_path,
                  "the database: .bgk biogpu's own, .kff KFF, else Jellyfish's\n[mer_counts.jf]")
      ->option_text("FILE")
      ->group(kOutput);
  command.add_flag("--text", flags.text, "write Jellyfish's text form")
      ->option_text(" ")
      ->group(kOutput);
  command
      .add_option("--out-counter-len", flags.counter_bytes,
                  "bytes of a count; larger counts are stored as the largest [4]")
      ->check(CLI::Range(1, 8))
      ->option_text("N")
      ->group(kOutput);
  command
      .add_flag("--no-provenance", flags.no_provenance, "leave time and place out of the header")
      ->option_text(" ")
      ->group(kOutput);
  command.add_option("-c,--counter-len", flags.counter_bits, "accepted and ignored")
      ->option_text("N")
      ->group("Run");
  command.add_option("--tmp-dir", flags.tmp_dir, "for what exceeds --max-memory [TMPDIR, /tmp]")
      ->option_text("DIR")
      ->group("Run");
  add_shared_flags(command, flags.shared);
  command.get_option("--max-memory")->description("bound on the bins in memory, as 2G");
}

}  // namespace biogpu::app
