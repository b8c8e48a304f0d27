// What the command line of `biogpu qc` comes to: the rules between its options.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "apps/biogpu/command_line/shared_flags.hpp"
#include "apps/biogpu/qc/flags.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::app {
namespace {

constexpr int kMaxThreads = 1024;  // as of other commands
constexpr int kMaxVirtualWorkers = 16;
constexpr int kMinParts = 2;
constexpr int kMaxParts = 999;
constexpr std::int64_t kMinLines = 1000;

qc::UmiLocation parse_umi_location(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::pair<const char*, qc::UmiLocation> kNames[] = {
      {"", qc::UmiLocation::none},
      {"index1", qc::UmiLocation::index1},
      {"index2", qc::UmiLocation::index2},
      {"read1", qc::UmiLocation::read1},
      {"read2", qc::UmiLocation::read2},
      {"per_index", qc::UmiLocation::per_index},
      {"per_read", qc::UmiLocation::per_read}};
  for (const auto& [name, location] : kNames)
    if (text == name) return location;
  throw Error(
      ErrorCode::usage,
      fmt::format("--umi_loc is {}; expected index1, index2, read1, read2, per_index or per_read",
                  biogpu::quoted(text)));
}

void resolve_cuts(qc::Options& o, const QcFlags::Given& g, std::vector<std::string>& remarks) {
  const auto cut = [&](bool asked, const QcFlags::Given::Window& own) -> qc::WindowCut {
    return {asked, own.window.value_or(g.shared.window.value_or(4)),
            own.quality.value_or(g.shared.quality.value_or(20))};
  };
  o.cut_front = cut(g.cut_front, g.front);
  o.cut_tail = cut(g.cut_tail, g.tail);
  o.cut_right = cut(g.cut_right, g.right);
  // fastp's own reading of its old names: the second cuts the front too.
  const auto old_name = [&](bool given, qc::WindowCut& window, const char* name, const char* now) {
    if (!given || window.enabled) return;
    window.enabled = true;
    remarks.push_back(std::string("WARNING: ") + name + " is deprecated, please use " + now +
                      " instead.");
  };
  old_name(g.cut_by_quality5, o.cut_front, "cut_by_quality5", "cut_front");
  old_name(g.cut_by_quality3, o.cut_front, "cut_by_quality3", "cut_tail");
  old_name(g.cut_by_quality_aggressive, o.cut_right, "cut_by_quality_aggressive", "cut_right");
  const bool is_given =
      g.shared.is_given() || g.front.is_given() || g.tail.is_given() || g.right.is_given();
  // fastp's words, the typing error of 0.23 included, for whoever looks for them in logs.
  if (is_given && !o.cuts_by_quality())
    remarks.push_back(
        fmt::format("WARNING: you specified the options for cutting by quality, but {} to enable "
                    "any of cut_front/cut_tail/cut_right. This will have no effect.",
                    o.follows_fastp_1() ? "forgot" : "forogt"));
}

// As for fastp, 0 and less are wrong: they do not mean "not split".
void resolve_split(qc::Options& o, const QcFlags::Given& g) {
  if (g.split_files && g.split_lines)
    throw Error(ErrorCode::usage, "--split and --split_by_lines exclude each other");
  if (g.split_files) {
    if (*g.split_files < kMinParts || *g.split_files > kMaxParts)
      throw Error(ErrorCode::usage, fmt::format("--split is {}; expected {} to {}", *g.split_files,
                                                kMinParts, kMaxParts));
    o.split_files = *g.split_files;
  }
  if (g.split_lines) {
    if (*g.split_lines < kMinLines || *g.split_lines % 4 != 0)
      throw Error(ErrorCode::usage,
                  fmt::format("--split_by_lines is {}; expected a multiple of 4 from {} to {}",
                              *g.split_lines, kMinLines, INT64_MAX - 3));
    o.split_by_lines = true;
    o.split_records = static_cast<std::uint64_t>(*g.split_lines / 4);
  }
}

}  // namespace

std::vector<std::string> QcFlags::resolve() {
  std::vector<std::string> remarks;
  qc::Options& o = options;
  Given& g = given;
  if (g.profile != "fastp-0.23" && g.profile != "fastp-1")
    throw Error(ErrorCode::usage, fmt::format("--profile is {}; expected fastp-0.23 or fastp-1",
                                              biogpu::quoted(g.profile)));
  o.profile = g.profile == "fastp-1" ? qc::Profile::fastp_1 : qc::Profile::fastp_0_23;
  if (g.discard_unmerged)
    remarks.emplace_back(
        "DEPRECATED: --discard_unmerged has no effect now, see the introduction "
        "for merging.");
  o.trim1 = {g.trim_front1, g.trim_tail1, g.max_len1};
  o.trim2 = {g.trim_front2.value_or(g.trim_front1), g.trim_tail2.value_or(g.trim_tail1),
             g.max_len2.value_or(g.max_len1)};
  resolve_cuts(o, g, remarks);
  if (g.poly_g && g.no_poly_g)
    throw Error(ErrorCode::usage, "--trim_poly_g and --disable_trim_poly_g exclude each other");
  if (g.poly_g) o.poly_g = qc::Options::PolyG::on;
  if (g.no_poly_g) o.poly_g = qc::Options::PolyG::off;
  o.adapter_trimming = !g.no_adapter_trimming;
  o.quality_filter = !g.no_quality_filter;
  o.length_filter = !g.no_length_filter;
  o.complexity_percent = std::clamp(o.complexity_percent, 0, 100);
  if (g.reads_to_process < 0)
    throw Error(ErrorCode::usage, fmt::format("--reads_to_process is {}; expected 0, for all, or "
                                              "more",
                                              g.reads_to_process));
  o.reads_to_process = static_cast<std::uint64_t>(g.reads_to_process);
  o.duplicates = !g.no_duplicates || o.dedup;
  o.duplicate_level =
      g.duplicate_level == 0 ? (o.dedup ? 3 : 1) : std::clamp(g.duplicate_level, 1, 6);
  if (o.umi) o.umi_location = parse_umi_location(g.umi_location);
  resolve_split(o, g);
  if (g.threads > kMaxThreads)
    throw Error(ErrorCode::usage,
                fmt::format("--thread is {}; expected at most {}", g.threads, kMaxThreads));
  if (g.threads > 0) o.virtual_workers = g.threads;
  if (o.virtual_workers > kMaxVirtualWorkers && o.profile == qc::Profile::fastp_0_23) {
    remarks.push_back("WARNING: fastp uses up to 16 threads although you specified " +
                      std::to_string(o.virtual_workers));
    o.virtual_workers = kMaxVirtualWorkers;
  }
  threads = g.threads > 0 ? g.threads : default_threads();
  device_request = parse_device_request(device);
  const std::vector<std::string> more = qc::check_options(o);
  remarks.insert(remarks.end(), more.begin(), more.end());
  if (!o.index_file1.empty()) o.index_list1 = qc::read_index_list(o.index_file1);
  if (!o.index_file2.empty()) o.index_list2 = qc::read_index_list(o.index_file2);
  if (!o.adapter_fasta.empty())
    o.fasta_adapters = qc::read_adapter_fasta(o.adapter_fasta, o.profile, remarks);
  return remarks;
}

}  // namespace biogpu::app
