// `biogpu gather`: outputs of shards, one after the other, as one run would have written them.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/biogpu/command.hpp"
#include "apps/biogpu/value_checks.hpp"
#include "lib/core/error.hpp"
#include "lib/infer/output/array_writer.hpp"
#include "lib/infer/output/npy_parts.hpp"
#include "lib/io/file_clash.hpp"
#include "lib/io/input/compression.hpp"
#include "lib/io/output_file.hpp"
#include "lib/io/text_reader.hpp"

namespace biogpu::app {
namespace {

constexpr char kGatherFooter[] =
    "tsv: the parts begin with one header line, which is kept once. sam: the header is the first\n"
    "part's; its @PG names that part. lines: no header, as in PAF, BED and BLAST tables. npy: "
    "rows\n"
    "and PART.index.tsv of 'biogpu infer'. Parts of BAM and CRAM are joined by 'samtools cat'.\n\n"
    "Examples:\n"
    "  for i in 1 2; do biogpu bwt count -x genome.fa reads.fq -o $i.tsv --shard $i/2; done\n"
    "  biogpu gather -o all.tsv 1.tsv 2.tsv\n\n";

constexpr std::array kGatherFormats = {"tsv", "sam", "lines", "npy"};

struct GatherFlags {
  std::vector<std::string> parts;
  std::string out_path = "-";
  std::string format;  // empty: by the suffix of the first part
};

std::string format_of(std::string path) {
  if (path.ends_with(".gz")) path.resize(path.size() - 3);
  if (path.ends_with(".tsv")) return "tsv";
  if (path.ends_with(".sam")) return "sam";
  if (path.ends_with(".npy")) return "npy";
  if (path.ends_with(".bam") || path.ends_with(".cram"))
    throw Error(ErrorCode::usage, path + ": parts of BAM and CRAM are joined by 'samtools cat'");
  return "lines";
}

// Whole lines of a part as they are, but for a header that is there already.
class Joiner {
 public:
  Joiner(std::string format, io::OutputFile& out) : format_(std::move(format)), out_(out) {}

  void add(const std::string& path) {
    io::TextReader reader(path);
    std::string_view text = reader.next();
    io::input::refuse_compression(text, path);
    if (text.find('\0') != std::string_view::npos)
      throw Error(ErrorCode::bad_input,
                  path + ": is no text; k-mers are joined by 'biogpu kmer merge'");
    if (format_ == "tsv") text = without_header_line(path, reader, text);
    if (format_ == "sam") text = without_sam_header(path, reader, text);
    char last = '\n';
    for (; !text.empty(); text = reader.next()) {
      out_.write(text);
      last = text.back();
    }
    if (last != '\n') out_.write("\n");
    is_first_ = false;
  }

 private:
  std::string_view without_header_line(const std::string& path, io::TextReader& reader,
                                       std::string_view text) {
    std::string line;
    text = take_line(reader, text, line);
    if (is_first_) {
      header_ = line;
      out_.write(line);
    } else if (line != header_) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: begins with another line than the first part; --format lines "
                              "joins tables without a header",
                              path));
    }
    return text;
  }

  // Parts of one run differ in their @PG lines alone, which name their commands.
  std::string_view without_sam_header(const std::string& path, io::TextReader& reader,
                                      std::string_view text) {
    std::string header;
    while (!text.empty() && text.front() == '@') {
      std::string line;
      text = take_line(reader, text, line);
      if (is_first_) out_.write(line);
      if (line.compare(0, 4, "@PG\t") != 0) header += line;
    }
    if (is_first_) {
      header_ = std::move(header);
    } else if (header != header_) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: has other targets in its header than the first part; parts of "
                              "one run have the same",
                              path));
    }
    return text;
  }

  // What follows the line.
  static std::string_view take_line(io::TextReader& reader, std::string_view text,
                                    std::string& line) {
    for (; !text.empty(); text = reader.next()) {
      const std::size_t end = text.find('\n');
      line += text.substr(0, end == std::string_view::npos ? end : end + 1);
      if (end == std::string_view::npos) continue;
      text.remove_prefix(end + 1);
      return text.empty() ? reader.next() : text;
    }
    return text;
  }

  const std::string format_;
  io::OutputFile& out_;
  std::string header_;
  bool is_first_ = true;
};

void run_gather(const GatherFlags& flags) {
  const std::string format = flags.format.empty() ? format_of(flags.parts.front()) : flags.format;
  std::vector<io::NamedFile> parts, outputs{{"--output", flags.out_path}};
  for (const std::string& path : flags.parts) parts.push_back({"a part", path});
  if (format == "npy") {
    for (const std::string& path : flags.parts)
      parts.push_back({"a part's index", infer::npy_index(path)});
    outputs.push_back({"the index", infer::npy_index(flags.out_path)});
  }
  io::require_distinct_files(parts, outputs);
  if (format == "npy") {
    infer::join_npy(flags.parts, flags.out_path);
    return;
  }
  io::OutputFile out(flags.out_path);
  Joiner joiner(format, out);
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
  command.add_option("-o,--output", flags->out_path, "where they go; .gz compresses [-]")
      ->option_text("FILE");
  command
      .add_option("--format", flags->format, "tsv, sam, lines, npy [by the suffix of the first]")
      ->transform(one_of(std::vector<std::string>(kGatherFormats.begin(), kGatherFormats.end())))
      ->option_text("WHAT");
  return [flags](const std::string&) { run_gather(*flags); };
}

}  // namespace biogpu::app
