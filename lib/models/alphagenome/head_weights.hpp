#pragma once

#include "lib/models/alphagenome/weight_reader.hpp"
#include "lib/models/alphagenome/weights.hpp"

namespace biogpu::models::alphagenome {

// Reads the heads that were chosen, each with the operations that follow its product. Tensors of
// the others are known and left.
std::vector<HeadLayer> read_heads(WeightReader& reader, const std::vector<HeadChoice>& choices);

// Probabilities of all classes of splice sites, of which columns are given.
HeadLayer read_splice_sites(WeightReader& reader, const std::vector<std::int64_t>& rows);

}  // namespace biogpu::models::alphagenome
