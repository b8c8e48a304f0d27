#pragma once

#include <cstdint>
#include <string>

namespace biogpu::genome {

// A sequence of a genome: a chromosome, a scaffold.
struct Contig {
  std::string name;
  std::uint64_t length = 0;  // letters
};

}  // namespace biogpu::genome
