#pragma once

#include <cstdint>
#include <vector>

#include "lib/models/tensornet/weights/config.hpp"
#include "lib/models/tensornet/weights/host_weights.hpp"

namespace biogpu::models::tensornet {

// The weights of an edge as functions of its distance, in double precision, with their slopes:
//   embedding:  c(d) (D phi(d) + b)                                       [3 F]
//   a layer:    c(d) s(W3 s(W2 s(W1 phi(d) + b) + b) + b)                 [3 F]
// with the radial functions phi, the activation s and the cosine cutoff c.
//   TensorNet2's layers apart: W1 phi(d) + b [F], whose activation needs charges, and c(d)    [1]
class RadialFunctions {
 public:
  enum class Part { embedding, layer, first_map, cutoff };
  // layer: of the weights, where the part has one. Config and weights outlive the functions.
  RadialFunctions(const Config& config, const HostWeights& weights, Part part,
                  std::int64_t layer = 0);

  std::int64_t n_functions() const { return maps_.empty() ? 1 : maps_.back()->n_out; }
  // values, slopes: [distances, functions].
  void evaluate(const std::vector<double>& distances, std::vector<double>& values,
                std::vector<double>& slopes) const;

 private:
  const Config& config_;
  const HostWeights& weights_;
  const Part part_;
  std::vector<const HostLinear*> maps_;  // none: c(d) alone
};

// The radial functions alone: values and slopes of R numbers.
void radial_basis(const Config& config, const HostWeights& weights, double distance, double* values,
                  double* slopes);

}  // namespace biogpu::models::tensornet
