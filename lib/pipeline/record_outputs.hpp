#pragma once

#include <cstdint>
#include <functional>
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
  // Where an array lies on a genome: the number of the contig, and its first base from 0.
  struct Position {
    std::uint64_t contig = 0;
    std::int64_t begin = 0;
  };
  std::vector<Position> positions = {};  // of each array, or none
  // Arrays that are too large to be there at once: each makes some of them, in this order. They
  // come behind those above. A log of --resume does not hold them.
  std::vector<std::function<void(RecordOutputs& next)>> later = {};
};

}  // namespace biogpu::pipeline
