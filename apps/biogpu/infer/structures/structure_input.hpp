#pragma once

#include <string>
#include <vector>

#include "apps/biogpu/infer/run/item_input.hpp"

namespace biogpu::app {

// Replaces folders by the structures in them, in the order of their names. Throws Error{bad_input}
// for a folder without any, Error{usage} where nothing is given.
std::vector<std::string> find_structures(const std::vector<std::string>& inputs);

// Files of structures, each a record; what they hold is read by the workers.
class StructureSource : public ListSource<std::string> {
 public:
  using ListSource::ListSource;
  std::vector<report::InputFile> files() const override;
};

}  // namespace biogpu::app
