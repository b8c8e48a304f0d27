#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace biogpu::bwt {

// A record of an index of bwa; records follow each other without anything between them.
struct BwaContig {
  std::string name;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// bwa's smaller files, each checked against the number of bases that the index holds on one strand.
// All throw Error{bad_input} with the path where a number disagrees.
std::vector<BwaContig> read_ann(const std::string& path, std::uint64_t n_bases);
// This one is not needed for searches: it may be missing, but not be of another index.
void check_amb(const std::string& path, std::uint64_t n_bases, std::uint64_t n_contigs);

[[noreturn]] void refuse_bwa_file(const std::string& path);

}  // namespace biogpu::bwt
