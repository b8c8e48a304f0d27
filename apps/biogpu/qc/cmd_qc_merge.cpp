// `biogpu qc-merge`: the reports of a whole run from those of its parts.
#include <memory>
#include <string>
#include <vector>

#include "apps/biogpu/command_line/command.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/output/path_conflicts.hpp"
#include "lib/io/output_file.hpp"
#include "lib/qc/merge/part.hpp"
#include "lib/qc/report/html_report.hpp"
#include "lib/qc/report/json_report.hpp"

namespace biogpu::app {
namespace {

constexpr char kQcMergeFooter[] =
    "The reports are, to the last digit, those of one run over all reads. The reads themselves\n"
    "are joined by 'cat', compressed or not.\n\n"
    "Examples:\n"
    "  biogpu qc --shard 1/2 --part 1.part -i reads.fq.gz -o 1.fq.gz -j 1.json -h 1.html\n"
    "  biogpu qc --shard 2/2 --part 2.part -i reads.fq.gz -o 2.fq.gz -j 2.json -h 2.html\n"
    "  biogpu qc-merge 1.part 2.part -j qc.json -h qc.html && cat 1.fq.gz 2.fq.gz > "
    "clean.fq.gz\n\n";

struct QcMergeFlags {
  std::vector<std::string> parts;
  std::string json = "fastp.json";
  std::string html = "fastp.html";
};

void run_qc_merge(const QcMergeFlags& flags) {
  std::vector<io::NamedFile> inputs;
  for (const std::string& path : flags.parts) inputs.push_back({"PART", path});
  io::require_distinct_files(
      inputs, std::vector<io::NamedFile>{{"--json", flags.json}, {"--html", flags.html}});
  std::vector<qc::Part> parts;
  parts.reserve(flags.parts.size());
  for (const std::string& path : flags.parts) parts.push_back(qc::read_part(path));
  const qc::Merged merged = qc::merge_parts(std::move(parts), flags.parts);
  io::OutputFile json(flags.json);
  io::OutputFile html(flags.html);
  json.write(qc::json_report(merged.summary, merged.options, merged.command + " "));
  html.write(qc::html_report(merged.summary, merged.options, merged.command));
  json.finish();
  html.finish();
  const io::CommitGuard guard;
  json.commit();
  html.commit();
}

}  // namespace

Run add_qc_merge(CLI::App& command) {
  // As in qc, -h names the HTML report.
  command.set_help_flag("--help,-?", "print this help and end");
  command.footer(kQcMergeFooter + std::string(kExitCodes));
  const auto flags = std::make_shared<QcMergeFlags>();
  command
      .add_option("PART", flags->parts, "files of 'biogpu qc --part', each part once, any order")
      ->required()
      ->option_text(" ");
  command
      .add_option("-j,--json", flags->json,
                  "write the report for programs to this file [fastp.json]")
      ->check(text_name({"json"}))
      ->option_text("FILE");
  command
      .add_option("-h,--html", flags->html, "write the report for people to this file [fastp.html]")
      ->check(text_name({"html"}))
      ->option_text("FILE");
  return [flags](const std::string&) { run_qc_merge(*flags); };
}

}  // namespace biogpu::app
