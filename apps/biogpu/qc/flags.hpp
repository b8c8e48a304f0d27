#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "apps/biogpu/terminal/progress.hpp"
#include "lib/core/device.hpp"
#include "lib/qc/options/options.hpp"

namespace biogpu::app {

// What the command line of `qc` says: fastp's options under fastp's names, and a few of our own.
struct QcFlags {
  qc::Options options;
  int threads = 0;  // real ones, after resolve()
  std::string device = "auto";
  DeviceRequest device_request;  // after resolve()
  std::uint64_t batch = 0;       // reads or pairs; 0: chosen
  ProgressWhen progress = ProgressWhen::automatic;
  bool quiet = false;
  bool verbose = false;

  // Applies the options' rules; returns remarks. Throws Error{usage}.
  std::vector<std::string> resolve();

  // As given, before the rules between them.
  struct Given {
    int trim_front1 = 0, trim_tail1 = 0, max_len1 = 0;
    std::optional<int> trim_front2, trim_tail2, max_len2;  // else as mate 1
    bool cut_front = false, cut_tail = false, cut_right = false;
    bool cut_by_quality5 = false, cut_by_quality3 = false, cut_by_quality_aggressive = false;
    struct Window {
      std::optional<int> window, quality;
      bool is_given() const { return window.has_value() || quality.has_value(); }
    };
    Window shared;
    Window front, tail, right;  // of one cut alone; else the shared ones
    bool poly_g = false, no_poly_g = false;
    bool no_adapter_trimming = false, no_quality_filter = false, no_length_filter = false;
    bool no_duplicates = false;
    int duplicate_level = 0;  // 0: not given
    std::string umi_location;
    std::int64_t reads_to_process = 0;  // 0: all
    std::optional<int> split_files;
    std::optional<std::int64_t> split_lines;
    int threads = 0;  // 0: not given
    std::string profile = "fastp-1";
    bool discard_unmerged = false;
  } given;
};

void add_qc_flags(CLI::App& command, QcFlags& flags);

}  // namespace biogpu::app
