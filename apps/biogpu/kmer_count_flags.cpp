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

CountBounds CountFlags::counted_bounds() const {
  if (!only_in.empty()) return {};
  if (bloom_size == 0) return bounds;
  const auto one_more = [](std::uint64_t n) { return n == UINT64_MAX ? n : n + 1; };
  return {one_more(std::max<std::uint64_t>(bounds.lower, 1)), one_more(bounds.upper)};
}

std::string default_tmp_dir() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

void CountFlags::resolve() {
  if (min_qual_char.size() > 1)
    throw Error(ErrorCode::usage, fmt::format("-Q '{}'; expected one character", min_qual_char));
  if (bloom_size > 0 && !bloom_counter.empty())
    throw Error(ErrorCode::usage, "--bf-size and --bc filter the same; give one of them");
  if (bloom_size > 0 && !only_in.empty())
    throw Error(ErrorCode::usage, "--bf-size would take k-mers out of --if; give one of them");
  if (tmp_dir.empty()) tmp_dir = default_tmp_dir();
  input.resolve();
  shared.resolve();
}

void add_count_flags(CLI::App& command, CountFlags& flags) {
  constexpr char kFilter[] = "Filters";
  constexpr char kOutput[] = "Output";
  add_kmer_input_flags(command, flags.input);
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
      .add_option("--if", flags.only_in,
                  "count only the k-mers of these files; those never seen get a\ncount of 0")
      ->option_text("FILE")
      ->allow_extra_args(false)
      ->take_all()
      ->group(kFilter);
  command
      .add_option("--bc", flags.bloom_counter,
                  "count only k-mers seen twice or more, by a file of 'kmer bc'")
      ->option_text("FILE")
      ->group(kFilter);
  command
      .add_option(
          "--bf-size", flags.bloom_size,
          "leave out the first occurrence of each k-mer, as the Bloom\nfilter that Jellyfish "
          "makes for N of them does; -L 2 is exact")
      ->transform(decimal_size())
      ->option_text("N")
      ->group(kFilter);
  command.add_option("--bf-fp", flags.bloom_rate, "accepted and ignored")
      ->option_text("RATE")
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
  command.add_option("--timing", flags.timing, "write the seconds of three stages, a line each")
      ->option_text("FILE")
      ->group(kOutput);
  command.add_option("-p,--reprobes", flags.reprobes, "named in the header, else ignored [126]")
      ->check(CLI::Range(0, 1000000))
      ->option_text("N")
      ->group("Run");
  command.add_flag("--disk", flags.ignored, "accepted and ignored; see --max-memory")
      ->option_text(" ")
      ->group("Run");
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
