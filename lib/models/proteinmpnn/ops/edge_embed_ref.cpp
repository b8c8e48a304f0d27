#include "lib/models/proteinmpnn/ops/edge_embed.hpp"

#include <cmath>

#include "lib/models/proteinmpnn/ops/edge_geometry.hpp"
#include "lib/models/proteinmpnn/ops/edge_layers.hpp"

namespace biogpu::models::proteinmpnn {

void edge_embed_ref(const EdgeEmbed& op) {
  using reference::Row;
  const std::int64_t d = op.out.shape[2];
  for (std::int64_t i = 0; i < op.points.shape[0]; ++i)
    for (std::int32_t e = 0; e < op.counts.as<std::int32_t>()[i]; ++e) {
      const std::int32_t j = op.rows.row<std::int32_t>(i)[e];
      Row inputs;
      for (int p = 0; p < op.n_pairs; ++p) {
        const auto distance = static_cast<double>(p == 0 ? op.distances.row<float>(i)[e]
                                                         : pair_distance(op, i, j, p));
        for (int k = 0; k < EdgeEmbed::kBasis; ++k) {
          const double z = (distance - (2 + k * 20.0 / 15)) / 1.25;
          inputs.push_back(std::exp(-z * z));
        }
      }
      float orientation[EdgeEmbed::kOrientation];
      if (!op.frames.empty()) {
        edge_orientation(op, i, j, orientation);
        inputs.insert(inputs.end(), orientation, orientation + EdgeEmbed::kOrientation);
      }
      Row x = reference::multiply(*op.features, inputs);
      reference::add(x, op.positions.row<float>(position_class(op, i, j)));
      x = reference::layer_norm(x, op.norm);
      if (!op.normalised.empty()) reference::store(x, op.normalised.row<float>(i) + e * d);
      reference::store(reference::multiply(*op.linear, x), op.out.row<float>(i) + e * d);
    }
}

}  // namespace biogpu::models::proteinmpnn
