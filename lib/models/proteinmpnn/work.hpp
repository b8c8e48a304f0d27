#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lib/models/proteinmpnn/decoder.hpp"

namespace biogpu::models::proteinmpnn {

// A given sequence of a structure, and what came out.
struct Scoring {
  DecodingOrder order;
  std::vector<std::uint8_t> letters;     // [n]
  std::vector<float> log_probabilities;  // [n][21]
};

// One encoding of a structure with all that is to be computed from it. Nothing is owned.
struct Work {
  const Complex* complex = nullptr;
  const Constraints* constraints = nullptr;
  const std::vector<float>* noise = nullptr;  // added to the coordinates; or none
  std::span<Sample> samples;
  std::span<Scoring> scorings;
  EncoderTaps* taps = nullptr;  // or none
};

// On the CPU, in the calling thread's task arena.
void run_work(const Weights& weights, const Work& work);

// A model on one device. One thread at a time.
class GpuModel {
 public:
  virtual ~GpuModel() = default;
  // The same for many structures at once; letters and numbers do not depend on what comes together.
  // Throws as draw_samples() does, and Error{device_memory}, Error{failed}.
  virtual void run(std::span<const Work> works) = 0;
  virtual double device_seconds() const = 0;            // of copies and kernels, summed
  virtual std::uint64_t peak_device_bytes() const = 0;  // of weights and batches
};

// max_device_bytes: 0 takes what is free. Throws Error{device} where this build has no GPU backend
// or the model has more neighbours than its kernels take.
std::unique_ptr<GpuModel> make_gpu_model(int device, const Weights& weights,
                                         std::uint64_t max_device_bytes);

}  // namespace biogpu::models::proteinmpnn
