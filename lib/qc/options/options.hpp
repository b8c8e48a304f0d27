#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/io/shard.hpp"

namespace biogpu::qc {

// Which fastp the reads and the report follow: 0.23.2 or 1.3.7.
enum class Profile { fastp_0_23, fastp_1 };

enum class UmiLocation { none, index1, index2, read1, read2, per_index, per_read };

// A sliding window over the qualities, mean at least `quality`.
struct WindowCut {
  bool enabled = false;
  int window = 4;
  int quality = 20;  // Phred
};

// What is cut from each mate of a number, before anything is looked at.
struct FixedTrim {
  int front = 0;
  int tail = 0;
  int max_length = 0;  // 0: none
};

// fastp's options under fastp's names and defaults; `check_options` holds the rules between them.
struct Options {
  std::string in1, in2;
  std::string out1, out2;
  std::string unpaired1, unpaired2;
  std::string merged_out, failed_out, overlapped_out;
  std::string json = "fastp.json";
  std::string html = "fastp.html";
  std::string report_title;  // after check_options not empty: else the name of the sample
  bool use_stdin = false;
  bool use_stdout = false;
  bool interleaved = false;
  bool dont_overwrite = false;
  bool lenient = false;  // end at a malformed record with a warning, as fastp does
  bool phred64 = false;
  bool fix_mgi_id = false;
  bool bgzf = false;
  int compression = 4;
  std::uint64_t reads_to_process = 0;  // reads or pairs; 0: all
  io::Shard shard;                     // by packs of fastp's, of kPackRecords
  std::string part_out;                // what `qc-merge` puts together; empty: none
  Profile profile = Profile::fastp_1;
  int virtual_workers = 3;  // fastp's -w: some of its numbers depend on it

  bool adapter_trimming = true;
  bool detect_adapter_for_pe = false;
  std::string adapter1 = "auto";  // "auto", "" for none found, or the sequence
  std::string adapter2 = "auto";
  std::string adapter_fasta;
  bool adapter_is_new = false;  // one was detected that is none of the known ones
  bool gapped_overlap = false;  // fastp 1: by an overlap with a gap too
  int dimer_max_len = 2;  // fastp 1: longest read, behind its adapters, that counts as a dimer
  std::vector<std::string> fasta_adapters;  // in the order of their header lines

  FixedTrim trim1, trim2;
  WindowCut cut_front, cut_tail, cut_right;

  enum class PolyG { automatic, on, off };
  PolyG poly_g = PolyG::automatic;
  bool trim_poly_g = false;  // what `automatic` came to
  int poly_g_min_len = 10;
  bool trim_poly_x = false;
  int poly_x_min_len = 10;

  bool quality_filter = true;
  int qualified_quality = 15;    // Phred
  int unqualified_percent = 40;  // at most
  int n_base_limit = 5;          // at most
  int average_quality = 0;       // Phred, 0: no bound
  bool length_filter = true;
  int length_required = 15;
  int length_limit = 0;  // 0: none
  bool complexity_filter = false;
  int complexity_percent = 30;

  std::string index_file1, index_file2;
  std::vector<std::string> index_list1, index_list2;
  int index_threshold = 0;  // mismatches

  bool correction = false;
  int overlap_require = 30;    // bases
  int overlap_diff_limit = 5;  // mismatches
  int overlap_diff_percent = 20;

  bool merge = false;
  bool include_unmerged = false;

  bool umi = false;
  UmiLocation umi_location = UmiLocation::none;
  int umi_length = 0;
  int umi_skip = 0;
  std::string umi_prefix;
  std::string umi_delimiter = ":";  // between name and UMI

  bool duplicates = true;  // evaluate their rate
  bool dedup = false;
  int duplicate_level = 1;

  bool overrepresentation = false;
  int overrepresentation_sampling = 20;

  int split_files = 0;              // -s: number of files, 0: not
  std::uint64_t split_records = 0;  // -S / 4, or for -s what a file should hold
  bool split_by_lines = false;
  int split_digits = 4;

  // Known once the first records were looked at; see prepare().
  std::vector<std::string> overrepresented1, overrepresented2;  // candidates
  int cycles1 = 151;
  int cycles2 = 151;

  bool follows_fastp_1() const { return profile == Profile::fastp_1; }
  bool paired() const { return !in2.empty() || interleaved; }
  bool split() const { return split_files > 0 || split_by_lines; }
  bool cuts_by_quality() const {
    return cut_front.enabled || cut_tail.enabled || cut_right.enabled;
  }
  bool has_adapter1() const { return is_sequence(adapter1); }
  bool has_adapter2() const { return is_sequence(adapter2); }
  bool reads_standard_input() const { return use_stdin || in1 == "/dev/stdin" || in1 == "-"; }

 private:
  static bool is_sequence(const std::string& adapter) {
    return !adapter.empty() && adapter != "auto";
  }
};

// Applies the rules between options: what contradicts, what implies what, what has no effect here.
// Returns fastp's remarks on the last kind. Throws Error{usage} for a contradiction or a value out
// of range, Error{failed} where --dont_overwrite meets an existing file.
std::vector<std::string> check_options(Options& options);

// The sequences of --adapter_fasta of at least 6 bases, upper case, in the order of their header
// lines; of two equal headers the later counts, and for fastp 1 of equal sequences the first. Adds
// a remark for each that is too short.
std::vector<std::string> read_adapter_fasta(const std::string& path, Profile profile,
                                            std::vector<std::string>& remarks);

// The barcodes of --filter_by_index1 or 2, one a line. Throws Error{bad_input} for other letters.
std::vector<std::string> read_index_list(const std::string& path);

}  // namespace biogpu::qc
