#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/qc/options/options.hpp"
#include "lib/qc/stats/partial_report.hpp"
#include "lib/qc/stats/summary.hpp"

namespace biogpu::qc {

// A shard's results as `qc --part` writes them: CBOR (RFC 8949), docs/formats/qc-part.md.
struct Part {
  Options options;              // as prepared, with the shard
  std::uint64_t n_records = 0;  // reads or pairs of the whole input
  std::string command;          // without --shard and --part
  Summary summary;              // over the shard
  PartialReport partial;
};

std::string encode_part(Part part);

// Throws Error{bad_input} for a file that is none, Error{failed}.
Part read_part(const std::string& path);

// The command line of a shard, less what makes it one, with its first input behind "-i".
std::string whole_command(const std::string& command_line);

struct Merged {
  Summary summary;
  Options options;
  std::string command;
};

// What one run over the whole input would have found, to the last digit. paths: of the parts, for
// messages. Throws Error{bad_input} where parts are missing, come twice or were not made by one
// command from one input.
Merged merge_parts(std::vector<Part> parts, const std::vector<std::string>& paths);

}  // namespace biogpu::qc
