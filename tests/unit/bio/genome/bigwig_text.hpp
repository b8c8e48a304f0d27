#pragma once

#include <span>
#include <string>

#include "lib/bio/genome/contig.hpp"

namespace biogpu::test {

// All intervals of a bigWig file as bedGraph, read by libBigWig; throws where it has other contigs.
// Empty where the build has no libBigWig.
std::string bigwig_text(const std::string& path, std::span<const genome::Contig> contigs);

}  // namespace biogpu::test
