#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "lib/tasks/dna/compare.hpp"

namespace biogpu::app {

// How predictions of two sequences are made and compared.
struct CompareFlags {
  std::string reduction = "mean";
  std::string strands = "forward";
  std::vector<std::int64_t> shifts;  // empty: none
  bool no_reuse = false;
  std::uint64_t kept_memory = tasks::CompareOptions().max_kept_bytes;
};

void add_compare_flags(CLI::App& command, CompareFlags& flags);
tasks::CompareOptions compare_options(const CompareFlags& flags, std::uint8_t unknown);

}  // namespace biogpu::app
