#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/infer/output/array_writer.hpp"

namespace biogpu::infer {

// What a run of records gave: arrays for files of arrays, text for tables.
struct BatchResult {
  std::uint64_t n_records = 0;
  std::uint64_t n_residues = 0;
  std::uint64_t n_unknown = 0;  // residues read as the unknown word
  std::vector<NamedArray> arrays;
  std::string text;
};

}  // namespace biogpu::infer
