#include "lib/models/proteinmpnn/work.hpp"

#include "lib/core/gpu_backend.hpp"
#include "lib/models/proteinmpnn/model_gpu.hpp"

namespace biogpu::models::proteinmpnn {

void run_work(const Weights& weights, const Work& work) {
  static const std::vector<float> no_noise;
  const Encoded encoded =
      encode(weights, *work.complex, work.noise == nullptr ? no_noise : *work.noise, work.taps);
  draw_samples(weights, encoded, *work.complex, *work.constraints, work.samples);
  for (Scoring& scoring : work.scorings)
    scoring.log_probabilities =
        score_letters(weights, encoded, *work.complex, scoring.order, scoring.letters);
}

std::unique_ptr<GpuModel> make_gpu_model(int device, const Weights& weights,
                                         std::uint64_t max_device_bytes) {
  return gpu_feature<GpuTable>().make_model(device, weights, max_device_bytes);
}

}  // namespace biogpu::models::proteinmpnn
