#include "lib/models/dualbind/ops/frame_tokens.hpp"

namespace biogpu::models::dualbind {

void frame_tokens_ref(const FrameTokens& op) {
  const auto* const starts = op.starts.as<std::int32_t>();
  const std::int64_t n_ligand = op.ligand.shape[0], d = op.out.shape[1];
  for (std::int64_t c = 0; c < op.starts.shape[0] - 1; ++c)
    for (int frame = 0; frame < kFrames; ++frame)
      for (std::int64_t t = starts[c]; t < starts[c + 1]; ++t) {
        double p[3];
        for (int i = 0; i < 3; ++i) {
          p[i] = 0;
          for (int j = 0; j < 3; ++j)
            p[i] +=
                static_cast<double>(op.axes.row<float>(c)[3 * j + i]) *
                (static_cast<double>(op.positions.row<float>(t)[j]) - op.centre.row<float>(c)[j]);
        }
        const std::int64_t source = op.sources.as<std::int32_t>()[t];
        const float* const features = source < n_ligand ? op.ligand.row<float>(source)
                                                        : op.pocket.row<float>(source - n_ligand);
        float* const out = op.out.row<float>(kFrames * starts[c] +
                                             frame * (starts[c + 1] - starts[c]) + t - starts[c]);
        for (std::int64_t k = 0; k < d; ++k) {
          double sum = features[k];
          for (int i = 0; i < 3; ++i)
            sum += frame_sign(frame, i) * p[i] * op.weight.row<float>(i)[k];
          out[k] = static_cast<float>(sum);
        }
      }
}

}  // namespace biogpu::models::dualbind
