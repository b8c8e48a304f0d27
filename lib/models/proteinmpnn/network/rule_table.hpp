#pragma once

#include <cstdint>
#include <vector>

#include "lib/models/proteinmpnn/inputs/constraints.hpp"

namespace biogpu::models::proteinmpnn {

// The constraints of structures one behind the other, as decoding reads them.
struct RuleTable {
  std::vector<Rules> rules;
  std::vector<std::uint8_t> free, omit_at;
  std::vector<float> tied_weight, bias_at;
  std::vector<ProfileRow> profiles;

  void add(const Constraints& constraints);
  // Of this memory.
  RuleRows rows() const {
    return {rules.data(),   free.data(),    tied_weight.data(),
            omit_at.data(), bias_at.data(), profiles.data()};
  }
};

}  // namespace biogpu::models::proteinmpnn
