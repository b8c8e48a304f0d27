#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace biogpu::genome {

// A sequence of a genome: a chromosome, a scaffold.
struct Contig {
  std::string name;
  std::uint64_t length = 0;  // letters
};

// For errors: "FILE has no sequence 'chr1'; it has 1, 2, 3, ...; 'chr1' may be what it calls '1'".
std::string describe_missing(const std::string& file, std::string_view name,
                             std::span<const Contig> contigs,
                             const std::function<bool(std::string_view)>& has);

}  // namespace biogpu::genome
