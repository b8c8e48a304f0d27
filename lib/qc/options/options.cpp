#include "lib/qc/options/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/file_kind.hpp"
#include "lib/qc/options/list_lines.hpp"
#include "lib/qc/options/output_names.hpp"
#include "lib/qc/options/sample_name.hpp"

namespace biogpu::qc {
namespace {

constexpr int kLongestTrim = 1 << 29;

[[noreturn]] void usage(const std::string& text) { throw Error(ErrorCode::usage, text); }

void require_range(const char* option, long value, long low, long high) {
  if (value < low || value > high)
    usage(fmt::format("{} is {}; expected {} to {}", option, value, low, high));
}

bool only_acgt(std::string_view text) {
  return text.find_first_not_of("ACGT") == std::string_view::npos;
}

void check_adapter(const char* option, const std::string& adapter) {
  if (adapter.size() <= 3)
    usage(fmt::format("{} is {}; expected more than 3 bases", option, biogpu::quoted(adapter)));
  if (!only_acgt(adapter))
    usage(fmt::format("{} is {}; expected only A, C, G and T", option, biogpu::quoted(adapter)));
}

void check_inputs(Options& options) {
  if (options.in1.empty()) {
    if (!options.in2.empty()) usage("--in2 is given without --in1");
    if (!options.use_stdin) usage("no input; give --in1 FILE, or --stdin");
    options.in1 = "/dev/stdin";
  }
  if (!options.in2.empty() && options.interleaved)
    usage("--in2 and --interleaved_in exclude each other");
  if (options.in2 == options.in1 && !options.in2.empty())
    usage("--in1 and --in2 are the same file");
}

void drop_output(const char* why, const char* name, std::string& path,
                 std::vector<std::string>& remarks) {
  if (!path.empty())
    remarks.push_back(fmt::format("{} Ignoring argument {} = {}", why, name, path));
  path.clear();
}

void check_merge(Options& options, std::vector<std::string>& remarks) {
  if (!options.merge) {
    if (!options.merged_out.empty())
      remarks.push_back(
          "You haven't enabled merging mode (-m/--merge), ignoring argument "
          "--merged_out = " +
          options.merged_out);
    options.merged_out.clear();
    return;
  }
  if (options.split()) usage("--split and --split_by_lines do not work with --merge");
  if (!options.paired()) usage("--merge needs pairs; give --in2 or --interleaved_in");
  options.correction = true;
  if (options.merged_out.empty() && !options.use_stdout && !options.out1.empty() &&
      options.out2.empty()) {
    remarks.emplace_back(
        "You specified --out1, but haven't specified --merged_out in merging mode. "
        "Using --out1 to store the merged reads to be compatible with fastp 0.19.8\n");
    std::swap(options.merged_out, options.out1);
  }
  if (options.include_unmerged) {
    constexpr char kWhy[] = "You specified --include_unmerged in merging mode.";
    drop_output(kWhy, "--out1", options.out1, remarks);
    drop_output(kWhy, "--out2", options.out2, remarks);
    drop_output(kWhy, "--unpaired1", options.unpaired1, remarks);
    drop_output(kWhy, "--unpaired2", options.unpaired2, remarks);
  }
  if (options.merged_out.empty() && !options.use_stdout)
    usage("--merge needs --merged_out FILE or --stdout");
}

void check_pair_outputs(Options& options, std::vector<std::string>& remarks) {
  if (options.use_stdout) {
    if (options.split()) usage("--split and --split_by_lines do not work with --stdout");
    std::string text = "Streaming uncompressed ";
    if (options.merge)
      text += "merged";
    else if (options.paired())
      text += "interleaved";
    text += " reads to STDOUT...\n";
    if (options.paired() && !options.merge)
      text += "Enable interleaved output mode for paired-end input.\n";
    remarks.push_back(text);
    if (options.paired() && !options.merge && !options.out1.empty())
      remarks.emplace_back(
          "WARNING: all pairs go to standard output; as in fastp, --out1 and --out2 stay empty");
  }
  if (!options.paired() && !options.out2.empty())
    usage("--out2 needs pairs; give --in2 or --interleaved_in");
  if (options.paired() && !options.out1.empty() && options.out2.empty())
    usage("--out1 of pairs needs --out2");
  if (options.paired() && options.out1.empty() && !options.out2.empty()) {
    if (!options.merge) usage("--out2 needs --out1");
    drop_output("Pairs that do not merge need --out1 too.", "--out2", options.out2, remarks);
  }
  if (!options.paired()) {
    drop_output("Not paired-end mode.", "--unpaired1", options.unpaired1, remarks);
    drop_output("Not paired-end mode.", "--unpaired2", options.unpaired2, remarks);
    drop_output("Not paired-end mode.", "--overlapped_out", options.overlapped_out, remarks);
  }
  if (options.split()) {
    constexpr char kWhy[] = "Outputing unpaired reads is not supported in splitting mode.";
    drop_output(kWhy, "--unpaired1", options.unpaired1, remarks);
    drop_output(kWhy, "--unpaired2", options.unpaired2, remarks);
  }
}

void check_ranges(const Options& options) {
  require_range("--compression", options.compression, 1, 9);
  for (const FixedTrim* trim : {&options.trim1, &options.trim2}) {
    const bool free = options.profile == Profile::fastp_1;
    require_range("--trim_front", trim->front, 0, free ? INT32_MAX : 30);
    require_range("--trim_tail", trim->tail, 0, free ? INT32_MAX : 100);
  }
  require_range("--qualified_quality_phred", options.qualified_quality, 0, 93);
  require_range("--average_qual", options.average_quality, 0, 93);
  require_range("--unqualified_percent_limit", options.unqualified_percent, 0, 100);
  require_range("--n_base_limit", options.n_base_limit, 0, 50);
  require_range("--length_required", options.length_required, 0, INT32_MAX);
  require_range("--overlap_diff_limit", options.overlap_diff_limit, 0, INT32_MAX);
  require_range("--overlap_diff_percent_limit", options.overlap_diff_percent, 0, 100);
  require_range("--overrepresentation_sampling", options.overrepresentation_sampling, 1, 10000);
  if (options.cuts_by_quality())
    for (const WindowCut* cut : {&options.cut_front, &options.cut_tail, &options.cut_right}) {
      require_range("--cut_window_size", cut->window, 1, 1000);
      require_range("--cut_mean_quality", cut->quality, 1, 30);
    }
  if (options.split()) require_range("--split_prefix_digits", options.split_digits, 0, 10);
}

void check_umi(const Options& options) {
  if (!options.umi) return;
  if (options.umi_location == UmiLocation::none)
    usage("--umi needs --umi_loc: index1, index2, read1, read2, per_index or per_read");
  const UmiLocation where = options.umi_location;
  if (!options.paired() && (where == UmiLocation::index2 || where == UmiLocation::read2))
    usage("--umi_loc names mate 2, but the input has one read a record");
  if (where == UmiLocation::read1 || where == UmiLocation::read2 ||
      where == UmiLocation::per_read) {
    require_range("--umi_len", options.umi_length, 1, 100);
    require_range("--umi_skip", options.umi_skip, 0, 100);
  } else if (options.umi_skip > 0 || options.umi_length > 0) {
    usage("--umi_len and --umi_skip go with --umi_loc read1, read2 or per_read");
  }
  const auto control = [](unsigned char c) { return std::iscntrl(c) != 0; };
  if (std::any_of(options.umi_delimiter.begin(), options.umi_delimiter.end(), control))
    usage(fmt::format("--umi_delim is {}; expected no control characters",
                      biogpu::quoted(options.umi_delimiter)));
  const auto letter = [](unsigned char c) { return std::isalnum(c) != 0; };
  if (options.umi_prefix.size() >= 10 ||
      !std::all_of(options.umi_prefix.begin(), options.umi_prefix.end(), letter))
    usage(fmt::format("--umi_prefix is {}; expected up to 9 letters and digits",
                      biogpu::quoted(options.umi_prefix)));
}

// What a shard would have to know of the others' reads.
void check_shard(const Options& options) {
  if (options.shard.is_whole()) return;
  if (options.reads_standard_input())
    usage("--shard counts the records first, and standard input passes once; give --in1 FILE");
  for (const std::string& path : {options.in1, options.in2}) io::require_file_for_shard(path);
  if (options.dedup) usage("--shard and --dedup: a duplicate may lie in another part");
  if (options.split()) usage("--shard and --split exclude each other; a part is one already");
  if (options.lenient) usage("--shard and --lenient: damage would end one part alone");
}

}  // namespace

std::vector<std::string> check_options(Options& options) {
  std::vector<std::string> remarks;
  check_inputs(options);
  if (options.use_stdout && options.follows_fastp_1())
    for (const auto& [name, path] : {std::pair("out1", &options.out1), {"out2", &options.out2}}) {
      if (!path->empty())
        remarks.push_back(fmt::format("In STDOUT mode, ignore the {} filename {}", name, *path));
      path->clear();
    }
  check_merge(options, remarks);
  check_pair_outputs(options, remarks);
  if (options.unpaired2.empty()) options.unpaired2 = options.unpaired1;
  check_ranges(options);
  // More than any read has; sums of two still are numbers.
  for (FixedTrim* const trim : {&options.trim1, &options.trim2}) {
    trim->front = std::min(trim->front, kLongestTrim);
    trim->tail = std::min(trim->tail, kLongestTrim);
  }
  check_output_names(options);
  if (options.report_title.empty())
    options.report_title = sample_name(options.use_stdin ? "" : options.in1, options.in2);
  if (options.adapter2 == "auto" && !options.detect_adapter_for_pe && options.adapter1 != "auto")
    options.adapter2 = options.adapter1;
  if (options.has_adapter1()) check_adapter("--adapter_sequence", options.adapter1);
  if (options.has_adapter2()) check_adapter("--adapter_sequence_r2", options.adapter2);
  if (options.correction && !options.paired()) {
    remarks.emplace_back(
        "WARNING: base correction is only appliable for paired end data, ignoring "
        "-c/--correction");
    options.correction = false;
  }
  const Options defaults;
  if (!options.follows_fastp_1() &&
      (options.gapped_overlap || options.umi_delimiter != defaults.umi_delimiter ||
       options.dimer_max_len != defaults.dimer_max_len))
    usage(
        "--umi_delim, --dimer_max_len and --allow_gap_overlap_trimming do not go with --profile "
        "fastp-0.23");
  check_umi(options);
  check_shard(options);
  if (options.split_files > 0 && options.reads_standard_input())
    usage("--split needs to read its input twice; standard input cannot be, use --split_by_lines");
  if (options.split_files > 0)
    io::require_regular_file(options.in1,
                             "--split counts its reads first; --split_by_lines does not");
  if (options.split_files > 0)
    options.virtual_workers = std::min(options.virtual_workers, options.split_files);
  return remarks;
}

std::vector<std::string> read_index_list(const std::string& path) {
  std::vector<std::string> list = read_list_lines(path);
  for (std::size_t i = 0; i < list.size(); ++i)
    if (!only_acgt(list[i]))
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: line {}: {} is no barcode; expected only A, C, G and T", path,
                              i + 1, biogpu::quoted(list[i])));
  return list;
}

}  // namespace biogpu::qc
