// `biogpu gather`: outputs of shards, one after the other, as one run would have written them.
#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/biogpu/command_line/command.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "lib/core/error.hpp"
#include "lib/io/arrays/array_writer.hpp"
#include "lib/io/arrays/npy_parts.hpp"
#include "lib/io/output/path_conflicts.hpp"
#include "lib/io/output/suffix.hpp"
#include "lib/io/output_file.hpp"
#include "lib/io/part_joiner.hpp"

namespace biogpu::app {
namespace {

constexpr char kGatherFooter[] =
    "tsv: the parts begin with one header line, which is kept once. sam: the header is the first\n"
    "part's; its @PG names that part. vcf: the header, which all parts have, is kept once. lines:\n"
    "no header, as in PAF, BED and BLAST tables. npy: rows and PART.index.tsv of 'biogpu infer'.\n"
    "Parts of BAM and CRAM are joined by 'samtools cat', those of BCF by 'bcftools concat'.\n\n"
    "Examples:\n"
    "  for i in 1 2; do biogpu bwt count -x genome.fa reads.fq -o $i.tsv --shard $i/2; done\n"
    "  biogpu gather -o all.tsv 1.tsv 2.tsv\n\n";

constexpr std::array kGatherFormats = {"tsv", "sam", "vcf", "lines", "npy"};

struct GatherFlags {
  std::vector<std::string> parts;
  std::string out_path = "-";
  std::string format;  // empty: by the suffix of the first part
};

std::string format_of(const std::string& path) {
  const std::string suffix = io::suffix_of(path).format;
  if (suffix == "tsv" || suffix == "sam" || suffix == "vcf" || suffix == "npy") return suffix;
  if (suffix == "bam" || suffix == "cram")
    throw Error(ErrorCode::usage, path + ": parts of BAM and CRAM are joined by 'samtools cat'");
  if (suffix == "bcf")
    throw Error(ErrorCode::usage, path + ": parts of BCF are joined by 'bcftools concat'");
  if (suffix == "jf" || suffix == "bgk" || suffix == "kff")
    throw Error(ErrorCode::usage, path + ": is no text; k-mers are joined by 'biogpu kmer merge'");
  return "lines";
}

// The joined file has the format of the parts.
void check_name(const GatherFlags& flags, const std::string& format) {
  std::vector<std::string> suffixes = {"txt", format};
  if (format == "lines") {
    suffixes = {"txt",    "tsv",      "csv",    "paf",   "bed",
                "blast6", "bedgraph", "extxyz", "fasta", "fastq"};
  } else if (format == "npy") {
    suffixes = {"npy"};
  }
  const std::string wrong = io::check_suffix(flags.out_path, suffixes, io::OtherSuffixes::accept);
  if (!wrong.empty())
    throw Error(ErrorCode::usage, "--output: " + wrong + ", for parts of the format " + format);
}

// A part that is given twice is read twice, and another is missing in most cases.
void require_each_once(const std::vector<std::string>& parts) {
  std::map<std::pair<dev_t, ino_t>, std::string> seen;
  for (const std::string& path : parts) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    const auto [same, is_new] = seen.emplace(std::pair(status.st_dev, status.st_ino), path);
    if (!is_new)
      throw Error(ErrorCode::usage, fmt::format("{} and {} are the same file; expected each part "
                                                "once",
                                                same->second, path));
  }
}

void run_gather(const GatherFlags& flags) {
  const std::string format = flags.format.empty() ? format_of(flags.parts.front()) : flags.format;
  check_name(flags, format);
  std::vector<io::NamedFile> parts, outputs{{"--output", flags.out_path}};
  for (const std::string& path : flags.parts) parts.push_back({"a part", path});
  if (format == "npy") {
    for (const std::string& path : flags.parts)
      parts.push_back({"a part's index", io::npy_index(path)});
    outputs.push_back({"the index", io::npy_index(flags.out_path)});
  }
  io::require_distinct_files(parts, outputs);
  require_each_once(flags.parts);
  if (format == "npy") {
    io::join_npy(flags.parts, flags.out_path);
    return;
  }
  io::OutputFile out(flags.out_path);
  using io::PartFormat;
  io::PartJoiner joiner(format == "tsv"   ? PartFormat::tsv
                        : format == "sam" ? PartFormat::sam
                        : format == "vcf" ? PartFormat::vcf
                                          : PartFormat::lines,
                        out);
  for (const std::string& path : flags.parts) joiner.add(path);
  out.commit();
}

}  // namespace

Run add_gather(CLI::App& command) {
  command.footer(kGatherFooter + std::string(kExitCodes));
  const auto flags = std::make_shared<GatherFlags>();
  command.add_option("PART", flags->parts, "outputs of --shard 1/N, 2/N, ... in this order")
      ->required()
      ->option_text(" ");
  command
      .add_option("-o,--output", flags->out_path,
                  "write the whole output to this file; .gz compresses [-, standard output]")
      ->option_text("FILE");
  command
      .add_option("--format", flags->format,
                  "join the parts as tsv, sam, vcf, lines or npy [by the suffix of the first]")
      ->transform(one_of(std::vector<std::string>(kGatherFormats.begin(), kGatherFormats.end())))
      ->option_text("WHAT");
  return [flags](const std::string&) { run_gather(*flags); };
}

}  // namespace biogpu::app
