#include "apps/biogpu/kmer/count/count_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/kmer/jellyfish_number.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/output/suffix.hpp"
#include "lib/kmer/database/writer.hpp"
#include "lib/kmer/key/key.hpp"

namespace biogpu::app {

char CountFlags::min_quality_symbol() const {
  if (!min_qual_char.empty()) return min_qual_char[0];
  return min_quality >= 0 ? static_cast<char>(quality_start + min_quality) : '\0';
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

// What depends on all counts of a k-mer is for the merge of the parts to do.
void CountFlags::check_shard() const {
  if (shard.is_whole()) return;
  if (bounds.lower != CountBounds().lower || bounds.upper != CountBounds().upper)
    throw Error(ErrorCode::usage,
                "--shard: counts are whole only when merged; give -L and -U to 'kmer merge'");
  if (bloom_size > 0)
    throw Error(ErrorCode::usage,
                "--shard and --bf-size: first occurrences are told from all reads; use -L 2 of "
                "'kmer merge'");
  if (!input.generator.empty())
    throw Error(ErrorCode::usage, "--shard counts records of files, not of a --generator");
}

void CountFlags::check_names() const {
  std::vector<std::string> inputs = input.files_read();
  inputs.insert(inputs.end(), only_in.begin(), only_in.end());
  inputs.push_back(bloom_counter);
  check_files(inputs, std::vector<io::NamedFile>{
                          {"--output", out_path}, {"--timing", timing}, {"--json", shared.json}});
}

// The symbols of qualities are '!' to '~': above, every base would be hidden.
void CountFlags::check_quality() const {
  constexpr int kFirst = '!';
  constexpr int kLast = '~';
  if (min_quality < 0) return;
  if (quality_start < kFirst || quality_start > kLast)
    throw Error(ErrorCode::usage,
                fmt::format("--quality-start {}; expected {} to {}", quality_start, kFirst, kLast));
  if (min_quality > kLast - quality_start)
    throw Error(ErrorCode::usage,
                fmt::format("--min-quality {}; expected 0 to {} with --quality-start {}",
                            min_quality, kLast - quality_start, quality_start));
}

void CountFlags::resolve() {
  check_quality();
  if (bounds.lower > bounds.upper)
    throw Error(ErrorCode::usage, fmt::format("-L {} is above -U {}: no k-mer has such a count",
                                              bounds.lower, bounds.upper));
  if (bloom_size > 0 && !bloom_counter.empty())
    throw Error(ErrorCode::usage, "--bf-size and --bc filter the same; give one of them");
  if (bloom_size > 0 && !only_in.empty())
    throw Error(ErrorCode::usage, "--bf-size would take k-mers out of --if; give one of them");
  check_shard();
  if (tmp_dir.empty()) tmp_dir = default_tmp_dir();
  input.resolve();
  check_names();
  check_format();
  shared.resolve();
}

void CountFlags::check_format() const {
  if (!text) return require_plain_name(out_path);
  const std::string wrong = io::check_suffix(out_path, std::vector<std::string>{"txt", "tsv", "jf"},
                                             io::OtherSuffixes::accept);
  if (!wrong.empty())
    throw Error(ErrorCode::usage, fmt::format("--output: {}, with --text", wrong));
}

void add_count_flags(CLI::App& command, CountFlags& flags) {
  const OptionGroup count(command);
  const OptionGroup filters(command, "Filters");
  const OptionGroup output(command, "Output");
  const OptionGroup run(command, "Run");
  add_kmer_input_flags(command, flags.input);
  count.option("-m,--mer-len", flags.k, "set the length of a k-mer, in bases", "N")
      ->required()
      ->transform(jellyfish_number(1, kmer::kMaxK));
  count.flag("-C,--canonical", flags.canonical, "count a k-mer and its reverse complement as one");
  count
      .option("-s,--size", flags.size,
              "order the records as Jellyfish does for this size, with no other effect [2^30]", "N")
      ->transform(jellyfish_size());
  CLI::Option* const symbol =
      filters.option("-Q,--min-qual-char", flags.min_qual_char,
                     "read bases with a lower quality symbol than this as N", "CHAR");
  symbol->check(CLI::Validator(
      [](const std::string& text) {
        return text.size() == 1 ? std::string() : quoted(text) + "; expected one character";
      },
      ""));
  filters
      .option("--min-quality", flags.min_quality,
              "read bases with a lower quality than this, counted from --quality-start, as N", "N")
      ->transform(jellyfish_number(0, 127))
      ->excludes(symbol);
  filters
      .option("--quality-start", flags.quality_start,
              "set the code of the character that stands for quality 0 [64]", "N")
      ->transform(jellyfish_number(0, 127))
      ->excludes(symbol);
  add_count_bounds(filters, flags.bounds);
  filters
      .option("--if", flags.only_in,
              "count only the k-mers of these files; those never seen get a count of 0", "FILE")
      ->allow_extra_args(false)
      ->take_all();
  filters.option("--bc", flags.bloom_counter,
                 "count only k-mers seen twice or more, by a file of 'kmer bc'", "FILE");
  filters
      .option("--bf-size", flags.bloom_size,
              "leave out the first occurrence of each k-mer, as the Bloom filter that Jellyfish "
              "makes for N of them does; -L 2 is exact",
              "N")
      ->transform(jellyfish_size());
  filters.option("--bf-fp", flags.bloom_rate,
                 "ignore this option, which is accepted for compatibility", "RATE");
  output.option("-o,--output", flags.out_path,
                "write the database to this file: .bgk biogpu's own, .kff KFF, else Jellyfish's "
                "[mer_counts.jf]",
                "FILE");
  output.flag("--text", flags.text,
              "write the counts in Jellyfish's text format, not in its binary one");
  output
      .option("--out-counter-len", flags.counter_bytes,
              "write a count in N bytes of a .jf file; larger counts are stored as the largest; "
              ".bgk, .kff and --text ignore it [4]",
              "N")
      ->transform(jellyfish_number(1, 8));
  output.flag("--no-provenance", flags.no_provenance, "leave time and place out of the header");
  output
      .option("--timing", flags.timing,
              "write the seconds of three stages to this file, a line each", "FILE")
      ->check(text_name());
  run.option("-p,--reprobes", flags.reprobes,
             "write this number into the header, with no other effect [126]", "N")
      ->transform(jellyfish_number(0, 1000000));
  run.flag("--disk", flags.ignored,
           "ignore this option, which is accepted for compatibility; see --max-memory");
  run.option("-c,--counter-len", flags.counter_bits,
             "ignore this option, which is accepted for compatibility", "N")
      ->transform(jellyfish_number(0, UINT32_MAX));
  run.option(
      "--tmp-dir", flags.tmp_dir,
      "write temporary files with what exceeds --max-memory to this folder [TMPDIR, else /tmp]",
      "DIR");
  add_shared_flags(command, flags.shared);
  command.get_option("--threads")->transform(jellyfish_number(0, 1024));
  command.get_option("--batch")->description(
      "count at most N sequences in one batch [chosen for the device]");
  add_shard_flag(command, flags.shard,
                 "count part I of N of the records; 'kmer merge' adds parts up");
  command.get_option("--max-memory")
      ->description("take at most this host memory for the bins of k-mers, as 2G");
}

}  // namespace biogpu::app
