#include "lib/models/proteinmpnn/constraints.hpp"

namespace biogpu::models::proteinmpnn {

Constraints free_design(const Complex& complex) {
  Constraints constraints;
  for (std::size_t i = 0; i < complex.present.size(); ++i)
    constraints.free.push_back(complex.designed[i] != 0 && complex.present[i] != 0 ? 1 : 0);
  return constraints;
}

}  // namespace biogpu::models::proteinmpnn
