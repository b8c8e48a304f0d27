#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/io/arrays/array_writer.hpp"

namespace biogpu::pipeline {

// What a run of records gave: arrays for files of arrays, text for tables.
struct RecordOutputs {
  std::uint64_t n_records = 0;
  std::uint64_t n_residues = 0;
  std::uint64_t n_unknown = 0;  // residues read as the unknown word
  std::vector<io::NamedArray> arrays;
  std::string text;
  std::vector<std::string> warnings;  // of records, for the log
};

}  // namespace biogpu::pipeline
