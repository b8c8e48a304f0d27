#include "apps/biogpu/qc/flags.hpp"

#include <algorithm>
#include <concepts>
#include <limits>
#include <optional>
#include <string>

#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/shared_flags.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"

namespace biogpu::app {
namespace {

// A name with underscores, fastp's way, is also taken with dashes.
class Group {
 public:
  Group(CLI::App& command, const char* name) : command_(command), group_(command, name) {}

  template <class T>
  CLI::Option* option(const std::string& names, T& value, const std::string& text,
                      const char* type) {
    CLI::Option* const option = as_fastp(group_.option(names, value, text, type), value);
    if (const std::string dashed = with_dashes(names); !dashed.empty()) {
      CLI::Option* const other = as_fastp(command_.add_option(dashed, value), value);
      other->group("");
      // Of both spellings, too, the last on the command line counts.
      for (CLI::Option* const spelling : {option, other}) spelling->trigger_on_parse();
    }
    return option;
  }

  void flag(const std::string& names, bool& value, const std::string& text) {
    group_.flag(names, value, text);
    if (const std::string dashed = with_dashes(names); !dashed.empty())
      command_.add_flag(dashed, value)->group("");
  }

 private:
  // fastp reads numbers from a C++ stream, which takes blanks in front of them.
  static std::string drop_blanks(std::string number) {
    number.erase(0, number.find_first_not_of(" \t\n\v\f\r"));
    return number;
  }
  // Numbers are read as fastp reads them; other values have checks of their own.
  template <class Value>
  static CLI::Option* as_fastp(CLI::Option* option, const Value&) {
    return option;
  }
  template <std::integral Number>
  static CLI::Option* as_fastp(CLI::Option* option, const Number&) {
    using Limits = std::numeric_limits<Number>;
    // The check that is added last comes first.
    return option->transform(in_range(Limits::min(), Limits::max()))->transform(drop_blanks, "");
  }
  template <std::integral Number>
  static CLI::Option* as_fastp(CLI::Option* option, const std::optional<Number>&) {
    return as_fastp(option, Number{});
  }

  static std::string with_dashes(const std::string& names) {
    std::string name = names.substr(names.find("--"));
    if (name.find('_') == std::string::npos) return {};
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
  }

  CLI::App& command_;
  const OptionGroup group_;
};

void add_files(CLI::App& command, QcFlags& flags) {
  qc::Options& o = flags.options;
  Group group(command, "Input and output");
  group.option("-i,--in1", o.in1, "FASTQ: reads, or the first mates; gzip is recognised", "FILE");
  group.option("-I,--in2", o.in2, "the second mates", "FILE");
  group.option("-o,--out1", o.out1, "reads that pass; .gz compresses", "FILE");
  group.option("-O,--out2", o.out2, "second mates that pass", "FILE");
  group.flag("--stdin", o.use_stdin, "read standard input");
  group.flag("--stdout", o.use_stdout, "write to standard output, pairs interleaved");
  group.flag("--interleaved_in", o.interleaved, "--in1 holds both mates in turns");
  group.option("--unpaired1", o.unpaired1, "first mates that pass alone", "FILE");
  group.option("--unpaired2", o.unpaired2, "second mates that pass alone [--unpaired1]", "FILE");
  group.option("--failed_out", o.failed_out, "reads that fail, with the reason", "FILE");
  group.option("--overlapped_out", o.overlapped_out, "as fastp: what follows a perfect overlap",
               "FILE");
  group.option("-z,--compression", o.compression, "level of .gz, 1 to 9 [4]", "N");
  group.flag("--bgzf", o.bgzf, "write .gz as BGZF, which unpacks in parallel");
  group.flag("-6,--phred64", o.phred64, "input qualities have offset 64");
  group.option("--reads_to_process", flags.given.reads_to_process,
               "first reads or pairs only [all]", "N");
  group.flag("--dont_overwrite", o.dont_overwrite, "fail where an output exists");
  group.flag("--fix_mgi_id", o.fix_mgi_id, "put a blank before /1 and /2 of names");
  group.flag("--lenient", o.lenient, "end at a damaged record with a warning, as fastp does");
}

void add_adapters(CLI::App& command, QcFlags& flags) {
  qc::Options& o = flags.options;
  QcFlags::Given& g = flags.given;
  Group group(command, "Adapters");
  group.flag("-A,--disable_adapter_trimming", g.no_adapter_trimming, "leave adapters");
  group.option("-a,--adapter_sequence", o.adapter1,
               "adapter of reads [detected; pairs show theirs by overlap]", "SEQ");
  group.option("--adapter_sequence_r2", o.adapter2, "of second mates [--adapter_sequence]", "SEQ");
  group.option("--adapter_fasta", o.adapter_fasta, "cut every sequence of this file", "FILE");
  group.option("--dimer_max_len", o.dimer_max_len,
               "adapter dimers are reads left this short by their adapter [2]", "N");
  group.flag("-2,--detect_adapter_for_pe", o.detect_adapter_for_pe, "detect adapters of pairs too");
  group.flag("--allow_gap_overlap_trimming", o.gapped_overlap,
             "trim adapters by an overlap of mates with one gap too");
}

void add_trimming(CLI::App& command, QcFlags& flags) {
  qc::Options& o = flags.options;
  QcFlags::Given& g = flags.given;
  Group group(command, "Trimming");
  group.option("-f,--trim_front1", g.trim_front1, "bases off the front [0]", "N");
  group.option("-t,--trim_tail1", g.trim_tail1, "bases off the tail [0]", "N");
  group.option("-b,--max_len1", g.max_len1, "longest read, cut at the tail [0: any]", "N");
  group.option("-F,--trim_front2", g.trim_front2, "bases off the front of second mates [-f]", "N");
  group.option("-T,--trim_tail2", g.trim_tail2, "bases off the tail of second mates [-t]", "N");
  group.option("-B,--max_len2", g.max_len2, "longest second mate, cut at the tail [-b]", "N");
  group.flag("-5,--cut_front", g.cut_front, "cut windows of low quality off the front");
  group.flag("-3,--cut_tail", g.cut_tail, "... off the tail");
  group.flag("-r,--cut_right", g.cut_right, "cut at the first window of low quality");
  group.option("-W,--cut_window_size", g.shared.window, "bases in a window [4]", "N");
  group.option("-M,--cut_mean_quality", g.shared.quality, "mean quality asked of it [20]", "Q");
  const auto own = [&](const std::string& option, QcFlags::Given::Window& cut) {
    group.option(option + "_window_size", cut.window, "bases in a window of " + option + " [-W]",
                 "N");
    group.option(option + "_mean_quality", cut.quality, "mean quality asked by " + option + " [-M]",
                 "Q");
  };
  own("--cut_front", g.front);
  own("--cut_tail", g.tail);
  own("--cut_right", g.right);
  group.flag("-g,--trim_poly_g", g.poly_g, "cut poly-G tails [for two-colour instruments]");
  group.flag("-G,--disable_trim_poly_g", g.no_poly_g, "leave poly-G tails");
  group.option("--poly_g_min_len", o.poly_g_min_len, "shortest poly-G tail [10]", "N");
  group.flag("-x,--trim_poly_x", o.trim_poly_x, "cut tails of any one base");
  group.option("--poly_x_min_len", o.poly_x_min_len, "shortest such tail [10]", "N");
  command.add_flag("--cut_by_quality5", g.cut_by_quality5)->group("");
  command.add_flag("--cut_by_quality3", g.cut_by_quality3)->group("");
  command.add_flag("--cut_by_quality_aggressive", g.cut_by_quality_aggressive)->group("");
}

void add_filters(CLI::App& command, QcFlags& flags) {
  qc::Options& o = flags.options;
  QcFlags::Given& g = flags.given;
  Group group(command, "Filters");
  group.flag("-Q,--disable_quality_filtering", g.no_quality_filter, "no filter by quality and N");
  group.option("-q,--qualified_quality_phred", o.qualified_quality,
               "quality from which on a base is good [15]", "Q");
  group.option("-u,--unqualified_percent_limit", o.unqualified_percent,
               "drop reads with more bases below -q than this [40]", "%");
  group.option("-n,--n_base_limit", o.n_base_limit, "drop reads with more N than this [5]", "N");
  group.option("-e,--average_qual", o.average_quality,
               "drop reads whose mean quality is below this [0: none]", "Q");
  group.flag("-L,--disable_length_filtering", g.no_length_filter, "no filter by length");
  group.option("-l,--length_required", o.length_required, "drop reads that are shorter [15]", "N");
  group.option("--length_limit", o.length_limit, "drop reads that are longer [0: none]", "N");
  group.flag("-y,--low_complexity_filter", o.complexity_filter, "drop monotonous reads");
  group.option("-Y,--complexity_threshold", o.complexity_percent,
               "least share of bases that differ from the next one [30]", "%");
  group.option("--filter_by_index1", o.index_file1, "drop reads of these barcodes", "FILE");
  group.option("--filter_by_index2", o.index_file2, "the same for the second barcode", "FILE");
  group.option("--filter_by_index_threshold", o.index_threshold, "mismatches allowed [0]", "N");
}

void add_pairs(CLI::App& command, QcFlags& flags) {
  qc::Options& o = flags.options;
  Group group(command, "Pairs and UMIs");
  group.flag("-c,--correction", o.correction, "correct bases where mates overlap");
  group.option("--overlap_len_require", o.overlap_require, "shortest overlap [30]", "N");
  group.option("--overlap_diff_limit", o.overlap_diff_limit, "mismatches in it [5]", "N");
  group.option("--overlap_diff_percent_limit", o.overlap_diff_percent, "the same [20]", "%");
  group.flag("-m,--merge", o.merge, "merge mates that overlap");
  group.option("--merged_out", o.merged_out, "merged reads", "FILE");
  group.flag("--include_unmerged", o.include_unmerged, "write the others there too");
  command.add_flag("--discard_unmerged", flags.given.discard_unmerged)->group("");
  group.flag("-U,--umi", o.umi, "move UMIs into names");
  group.option("--umi_loc", flags.given.umi_location,
               "index1, index2, read1, read2, per_index, per_read", "WHERE");
  group.option("--umi_len", o.umi_length, "bases of a UMI in a read", "N");
  group.option("--umi_prefix", o.umi_prefix, "text before it", "TEXT");
  group.option("--umi_delim", o.umi_delimiter, "text between name and UMI [:]", "TEXT");
  group.option("--umi_skip", o.umi_skip, "bases skipped behind it [0]", "N");
}

void add_reports(CLI::App& command, QcFlags& flags) {
  qc::Options& o = flags.options;
  QcFlags::Given& g = flags.given;
  Group group(command, "Duplicates and reports");
  group.flag("-D,--dedup", o.dedup, "drop duplicates, the first stays");
  group.option("--dup_calc_accuracy", g.duplicate_level, "1 to 6 [1; 3 with --dedup]", "N");
  group.flag("--dont_eval_duplication", g.no_duplicates, "do not look for duplicates");
  group.flag("-p,--overrepresentation_analysis", o.overrepresentation,
             "report over-represented sequences");
  group.option("-P,--overrepresentation_sampling", o.overrepresentation_sampling,
               "in one of so many reads [20]", "N");
  group.option("-j,--json", o.json, "report for programs [fastp.json]", "FILE");
  group.option("-h,--html", o.html, "report for people [fastp.html]", "FILE");
  group.option("-R,--report_title", o.report_title,
               "title of the HTML report [name of the sample, from the inputs]", "TEXT");
  group.option("-s,--split", g.split_files, "split outputs into so many files", "N");
  group.option("-S,--split_by_lines", g.split_lines, "split outputs, lines in a file", "N");
  group.option("-d,--split_prefix_digits", o.split_digits, "digits of a part's number [4]", "N");
}

void add_run(CLI::App& command, QcFlags& flags) {
  Group group(command, "Run");
  group.option("-w,--thread", flags.given.threads,
               "threads, and as of how many fastp's numbers are [all; 3]", "N");
  group
      .option("--device", flags.device, "auto, cpu, gpu or a list, 0,1 [BIOGPU_DEVICE, else auto]",
              "WHAT")
      ->envname("BIOGPU_DEVICE");
  group.option("--batch", flags.batch, "reads or pairs in a batch [chosen]", "N");
  add_shard_flag(command, flags.options.shard,
                 "part I of N of the reads, in packs of 1,000; 'cat' joins outputs");
  group.option("--part", flags.options.part_out,
               "write what 'biogpu qc-merge' makes the whole report of", "FILE");
  group.option("--profile", flags.given.profile,
               "results of fastp 1.3.7 (fastp-1) or 0.23.2 (fastp-0.23) [fastp-1]", "WHICH");
  group.option("--progress", flags.progress, "auto (on a terminal), always, never [auto]", "WHEN")
      ->transform(progress_words());
  group.flag("--quiet", flags.quiet, "only warnings and errors on standard error");
  group.flag("-V,--verbose", flags.verbose, "log the time of each stage");
}

}  // namespace

void add_qc_flags(CLI::App& command, QcFlags& flags) {
  add_files(command, flags);
  add_adapters(command, flags);
  add_trimming(command, flags);
  add_filters(command, flags);
  add_pairs(command, flags);
  add_reports(command, flags);
  add_run(command, flags);
}

}  // namespace biogpu::app
