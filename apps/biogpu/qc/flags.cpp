#include "apps/biogpu/qc/flags.hpp"

#include <fmt/format.h>

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
  group.option("-i,--in1", o.in1,
               "read the reads, or the first mates of pairs, from this FASTQ file, plain or gzip",
               "FILE");
  group.option("-I,--in2", o.in2, "read the second mates of pairs from this FASTQ file", "FILE");
  group.option("-o,--out1", o.out1,
               "write the reads that pass to this file, compressed where its name ends in .gz",
               "FILE");
  group.option("-O,--out2", o.out2, "write the second mates that pass to this file", "FILE");
  group.flag("--stdin", o.use_stdin, "read the reads from standard input");
  group.flag("--stdout", o.use_stdout,
             "write the reads that pass to standard output, pairs interleaved");
  group.flag("--interleaved_in", o.interleaved,
             "take the reads of --in1 in turns as first and second mates");
  group.option("--unpaired1", o.unpaired1,
               "write first mates that pass while their second mates fail to this file", "FILE");
  group.option(
      "--unpaired2", o.unpaired2,
      "write second mates that pass while their first mates fail to this file [--unpaired1]",
      "FILE");
  group.option("--failed_out", o.failed_out,
               "write the reads that fail to this file, with the reason after the name", "FILE");
  group.option("--overlapped_out", o.overlapped_out,
               "write what follows a perfect overlap of mates to this file, as fastp does", "FILE");
  group.option("-z,--compression", o.compression,
               "set the level of compression of .gz outputs, 1 to 9 [4]", "N");
  group.flag("--bgzf", o.bgzf,
             "write .gz outputs as BGZF, which other programs can unpack in parallel");
  group.flag("-6,--phred64", o.phred64, "read qualities with offset 64, not 33");
  group.option("--reads_to_process", flags.given.reads_to_process,
               "process the first N reads or pairs alone [all]", "N");
  group.flag("--dont_overwrite", o.dont_overwrite, "fail where an output file exists already");
  group.flag("--fix_mgi_id", o.fix_mgi_id,
             "put a blank before /1 and /2 in the names of MGI reads");
  group.flag("--lenient", o.lenient,
             "end with a warning at a damaged record, as fastp does, not with an error");
}

void add_adapters(CLI::App& command, QcFlags& flags) {
  qc::Options& o = flags.options;
  QcFlags::Given& g = flags.given;
  Group group(command, "Adapters");
  group.flag("-A,--disable_adapter_trimming", g.no_adapter_trimming, "leave adapters in the reads");
  group.option("-a,--adapter_sequence", o.adapter1,
               "trim this adapter off the reads [detected; of pairs found by overlap]", "SEQ");
  group.option("--adapter_sequence_r2", o.adapter2,
               "trim this adapter off the second mates [--adapter_sequence]", "SEQ");
  group.option("--adapter_fasta", o.adapter_fasta,
               "trim every sequence of this FASTA file off the reads", "FILE");
  group.option("--dimer_max_len", o.dimer_max_len,
               "count a read as an adapter dimer where at most N bases are left of it [2]", "N");
  group.flag("-2,--detect_adapter_for_pe", o.detect_adapter_for_pe,
             "detect the adapters of pairs by their sequences too");
  group.flag("--allow_gap_overlap_trimming", o.gapped_overlap,
             "trim adapters also by an overlap of mates with one gap");
}

void add_trimming(CLI::App& command, QcFlags& flags) {
  qc::Options& o = flags.options;
  QcFlags::Given& g = flags.given;
  Group group(command, "Trimming");
  group.option("-f,--trim_front1", g.trim_front1, "cut N bases off the front of every read [0]",
               "N");
  group.option("-t,--trim_tail1", g.trim_tail1, "cut N bases off the tail of every read [0]", "N");
  group.option("-b,--max_len1", g.max_len1,
               "cut reads that are longer than N bases at the tail [0: no limit]", "N");
  group.option("-F,--trim_front2", g.trim_front2, "cut N bases off the front of second mates [-f]",
               "N");
  group.option("-T,--trim_tail2", g.trim_tail2, "cut N bases off the tail of second mates [-t]",
               "N");
  group.option("-B,--max_len2", g.max_len2,
               "cut second mates that are longer than N bases at the tail [-b]", "N");
  group.flag("-5,--cut_front", g.cut_front,
             "cut windows of low mean quality off the front, by -W and -M");
  group.flag("-3,--cut_tail", g.cut_tail,
             "cut windows of low mean quality off the tail, by -W and -M");
  group.flag("-r,--cut_right", g.cut_right,
             "cut a read from its first window of low mean quality on");
  group.option("-W,--cut_window_size", g.shared.window,
               "set the number of bases of a window of -5, -3 and -r [4]", "N");
  group.option("-M,--cut_mean_quality", g.shared.quality,
               "set the mean Phred quality that a window must have [20]", "Q");
  const auto own = [&](const std::string& option, QcFlags::Given::Window& cut) {
    group.option(option + "_window_size", cut.window,
                 fmt::format("set the number of bases of a window of {} alone [-W]", option), "N");
    group.option(option + "_mean_quality", cut.quality,
                 fmt::format("set the mean Phred quality of a window of {} alone [-M]", option),
                 "Q");
  };
  own("--cut_front", g.front);
  own("--cut_tail", g.tail);
  own("--cut_right", g.right);
  group.flag("-g,--trim_poly_g", g.poly_g,
             "cut tails of G off the reads [on for two-colour instruments]");
  group.flag("-G,--disable_trim_poly_g", g.no_poly_g,
             "leave tails of G in the reads of every instrument");
  group.option("--poly_g_min_len", o.poly_g_min_len,
               "cut tails of G from this number of bases on [10]", "N");
  group.flag("-x,--trim_poly_x", o.trim_poly_x, "cut tails of any one base off the reads");
  group.option("--poly_x_min_len", o.poly_x_min_len,
               "cut tails of one base from this number of bases on [10]", "N");
  command.add_flag("--cut_by_quality5", g.cut_by_quality5)->group("");
  command.add_flag("--cut_by_quality3", g.cut_by_quality3)->group("");
  command.add_flag("--cut_by_quality_aggressive", g.cut_by_quality_aggressive)->group("");
}

void add_filters(CLI::App& command, QcFlags& flags) {
  qc::Options& o = flags.options;
  QcFlags::Given& g = flags.given;
  Group group(command, "Filters");
  group.flag("-Q,--disable_quality_filtering", g.no_quality_filter,
             "do not filter by quality and number of N");
  group.option("-q,--qualified_quality_phred", o.qualified_quality,
               "count a base as qualified from this Phred quality on [15]", "Q");
  group.option("-u,--unqualified_percent_limit", o.unqualified_percent,
               "remove reads with more than this percentage of bases below -q [40]", "%");
  group.option("-n,--n_base_limit", o.n_base_limit,
               "remove reads with more than this number of bases N [5]", "N");
  group.option("-e,--average_qual", o.average_quality,
               "remove reads whose mean Phred quality is below this [0: none]", "Q");
  group.flag("-L,--disable_length_filtering", g.no_length_filter, "do not filter reads by length");
  group.option("-l,--length_required", o.length_required,
               "remove reads that are shorter than N bases [15]", "N");
  group.option("--length_limit", o.length_limit,
               "remove reads that are longer than N bases [0: none]", "N");
  group.flag("-y,--low_complexity_filter", o.complexity_filter,
             "remove reads of low complexity, as -Y defines it");
  group.option("-Y,--complexity_threshold", o.complexity_percent,
               "set the percentage of bases that must differ from the next base for -y [30]", "%");
  group.option("--filter_by_index1", o.index_file1,
               "remove reads whose first barcode is in this file, one a line", "FILE");
  group.option("--filter_by_index2", o.index_file2,
               "remove reads whose second barcode is in this file, one a line", "FILE");
  group.option("--filter_by_index_threshold", o.index_threshold,
               "allow N mismatches between a read's barcode and one of a file [0]", "N");
}

void add_pairs(CLI::App& command, QcFlags& flags) {
  qc::Options& o = flags.options;
  Group group(command, "Pairs and UMIs");
  group.flag("-c,--correction", o.correction, "correct bases of low quality where mates overlap");
  group.option("--overlap_len_require", o.overlap_require,
               "accept overlaps of mates from this number of bases on [30]", "N");
  group.option("--overlap_diff_limit", o.overlap_diff_limit,
               "accept overlaps of mates with at most N mismatches [5]", "N");
  group.option("--overlap_diff_percent_limit", o.overlap_diff_percent,
               "accept overlaps of mates with at most this percentage of mismatches [20]", "%");
  group.flag("-m,--merge", o.merge, "merge mates that overlap into one read");
  group.option("--merged_out", o.merged_out, "write the merged reads to this file", "FILE");
  group.flag("--include_unmerged", o.include_unmerged,
             "write the reads that are not merged to --merged_out too");
  command.add_flag("--discard_unmerged", flags.given.discard_unmerged)->group("");
  group.flag("-U,--umi", o.umi, "move unique molecular identifiers (UMIs) into the names of reads");
  group.option("--umi_loc", flags.given.umi_location,
               "take the UMI from index1, index2, read1, read2, per_index or per_read", "WHERE");
  group.option("--umi_len", o.umi_length, "take N bases of a read as its UMI", "N");
  group.option("--umi_prefix", o.umi_prefix, "put this text before the UMI in the name", "TEXT");
  group.option("--umi_delim", o.umi_delimiter, "put this text between the name and the UMI [:]",
               "TEXT");
  group.option("--umi_skip", o.umi_skip, "remove N bases behind the UMI [0]", "N");
}

void add_reports(CLI::App& command, QcFlags& flags) {
  qc::Options& o = flags.options;
  QcFlags::Given& g = flags.given;
  Group group(command, "Duplicates and reports");
  group.flag("-D,--dedup", o.dedup, "remove duplicated reads, of which the first stays");
  group.option("--dup_calc_accuracy", g.duplicate_level,
               "find duplicates with this level of accuracy, 1 to 6 [1; 3 with --dedup]", "N");
  group.flag("--dont_eval_duplication", g.no_duplicates, "do not look for duplicated reads");
  group.flag("-p,--overrepresentation_analysis", o.overrepresentation,
             "report sequences that occur more often than expected");
  group.option("-P,--overrepresentation_sampling", o.overrepresentation_sampling,
               "look for such sequences in one of N reads [20]", "N");
  group.option("-j,--json", o.json, "write the report for programs to this file [fastp.json]",
               "FILE");
  group.option("-h,--html", o.html, "write the report for people to this file [fastp.html]",
               "FILE");
  group.option("-R,--report_title", o.report_title,
               "set the title of the report for people [name of the sample, from the inputs]",
               "TEXT");
  group.option("-s,--split", g.split_files, "split the outputs into N files", "N");
  group.option("-S,--split_by_lines", g.split_lines, "split the outputs into files of N lines",
               "N");
  group.option("-d,--split_prefix_digits", o.split_digits,
               "write the number of a part with N digits [4]", "N");
}

void add_run(CLI::App& command, QcFlags& flags) {
  Group group(command, "Run");
  group.option("-w,--thread", flags.given.threads,
               "use N threads, and give fastp's numbers that depend on its threads for N; without "
               "it they are "
               "those of 3 [BIOGPU_THREADS, else up to 4]",
               "N");
  group
      .option("--device", flags.device,
              "compute on auto, cpu, gpu or devices by number, as 0,1 [BIOGPU_DEVICE, else auto]",
              "WHAT")
      ->envname("BIOGPU_DEVICE");
  group.option("--batch", flags.batch,
               "process N reads or pairs in a batch [chosen for the device]", "N");
  add_shard_flag(command, flags.options.shard,
                 "process part I of N of the reads, in packs of 1,000; 'cat' joins outputs");
  group.option("--part", flags.options.part_out,
               "write the numbers of this part for 'biogpu qc-merge' to this file", "FILE");
  group.option("--profile", flags.given.profile,
               "give the results of fastp 1.3.7 (fastp-1) or 0.23.2 (fastp-0.23) [fastp-1]",
               "WHICH");
  group
      .option("--progress", flags.progress,
              "show progress: auto (on a terminal), always or never [auto]", "WHEN")
      ->transform(progress_words());
  group.flag("--quiet", flags.quiet, "print only warnings and errors on standard error");
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
