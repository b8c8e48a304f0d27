#include "lib/models/tensornet/weights/radial_functions.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lib/core/parallel_for.hpp"
#include "lib/models/tensornet/ops/activation_unit.hpp"

namespace biogpu::models::tensornet {
namespace {

constexpr double kPi = 3.14159265358979323846;

struct WithSlope {
  double value, slope;
};

// (cos(pi d / upper) + 1) / 2, and between two cutoffs a whole wave.
WithSlope cosine_cutoff(double d, double lower, double upper) {
  if (!(d < upper) || (lower > 0 && !(d > lower))) return {0, 0};
  const double rate = lower > 0 ? 2 * kPi / (upper - lower) : kPi / upper;
  const double phase = lower > 0 ? rate * (d - lower) + kPi : rate * d;
  return {(std::cos(phase) + 1) / 2, -rate * std::sin(phase) / 2};
}

// sin x / x
WithSlope sinc(double x) {
  if (std::fabs(x) < 1e-3) return {1 - x * x / 6, -x / 3};
  return {std::sin(x) / x, (std::cos(x) - std::sin(x) / x) / x};
}

// Orthonormal smooth spherical Bessel functions (Kocer, Mason and Erturk 2020, arXiv 1909.11827).
void bessel_functions(double d, double cutoff, std::int64_t n, double* values, double* slopes) {
  double before = 1;  // D of the function before
  for (std::int64_t index = 0; index < n; ++index) {
    const auto k = static_cast<double>(index);
    const double a = k + 1, b = k + 2, to_x = kPi / cutoff;
    const double size = (index % 2 == 0 ? 1 : -1) * std::sqrt(2.0) * kPi / std::pow(cutoff, 1.5) *
                        a * b / std::sqrt(a * a + b * b);
    const WithSlope first = sinc(d * a * to_x), second = sinc(d * b * to_x);
    double value = size * (first.value + second.value);
    double slope = size * to_x * (a * first.slope + b * second.slope);
    if (index > 0) {
      const double e = k * k * b * b / (4 * a * a * a * a + 1);
      const double here = 1 - e / before, mixed = std::sqrt(e / before);
      value = (value + mixed * values[index - 1]) / std::sqrt(here);
      slope = (slope + mixed * slopes[index - 1]) / std::sqrt(here);
      before = here;
    }
    values[index] = value;
    slopes[index] = slope;
  }
}

// A few distances at a time: row r of an array is number r of all of them.
constexpr std::size_t kBlock = 16;
using Block = std::vector<double>;  // [rows, kBlock]
using Pair = double __attribute__((vector_size(16)));

// y = W x (+ b); the slopes have no bias.
void multiply(const HostLinear& map, bool has_bias, const Block& x, Block& y) {
  const auto n_in = static_cast<std::size_t>(map.n_in), n_out = static_cast<std::size_t>(map.n_out);
  y.assign(n_out * kBlock, 0);
  for (std::size_t o = 0; o < n_out; ++o) {
    const double bias = has_bias && !map.bias.empty() ? map.bias[o] : 0.0;
    Pair sums[kBlock / 2];
    for (Pair& sum : sums) sum = Pair{} + bias;
    const double* const weights = map.weight.data() + o * n_in;
    for (std::size_t k = 0; k < n_in; ++k)
      for (std::size_t i = 0; i < kBlock / 2; ++i) {
        Pair numbers;
        std::memcpy(&numbers, x.data() + k * kBlock + 2 * i, sizeof(numbers));
        sums[i] += weights[k] * numbers;
      }
    std::memcpy(y.data() + o * kBlock, sums, sizeof(sums));
  }
}

void activate_block(Unit unit, Block& values, Block& slopes) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const UnitValue<double> y(unit, values[i]);
    slopes[i] *= y.slope;
    values[i] = y.value;
  }
}

}  // namespace

void radial_basis(const Config& config, const HostWeights& weights, double distance, double* values,
                  double* slopes) {
  if (config.radial == Config::Radial::bessel)
    return bessel_functions(distance, config.cutoff_upper, config.n_radial, values, slopes);
  const bool exponential = config.radial == Config::Radial::exponential;
  const double rate = 5 / (config.cutoff_upper - config.cutoff_lower);
  const double s = exponential ? std::exp(rate * (config.cutoff_lower - distance)) : distance;
  const double ds = exponential ? -rate * s : 1;
  const WithSlope cutoff =
      exponential ? cosine_cutoff(distance, 0, config.cutoff_upper) : WithSlope{1, 0};
  for (std::size_t k = 0; k < weights.centres.size(); ++k) {
    const double off = s - weights.centres[k], steep = weights.steepness[k];
    const double gaussian = std::exp(-steep * off * off);
    values[k] = cutoff.value * gaussian;
    slopes[k] = (cutoff.slope - 2 * steep * off * ds * cutoff.value) * gaussian;
  }
}

RadialFunctions::RadialFunctions(const Config& config, const HostWeights& weights, Part part,
                                 std::int64_t layer)
    : config_(config), weights_(weights), part_(part) {
  const auto at = static_cast<std::size_t>(layer);
  if (part == Part::embedding) maps_ = {&weights.distances};
  if (part == Part::first_map) maps_ = {&weights.layers[at].radial[0]};
  if (part == Part::layer)
    for (const HostLinear& map : weights.layers[at].radial) maps_.push_back(&map);
}

void RadialFunctions::evaluate(const std::vector<double>& distances, std::vector<double>& values,
                               std::vector<double>& slopes) const {
  const auto n_functions_all = static_cast<std::size_t>(n_functions()),
             n_radial = static_cast<std::size_t>(config_.n_radial);
  values.resize(distances.size() * n_functions_all);
  slopes.resize(values.size());
  parallel_for_chunks(
      distances.size(), kBlock, [&](std::size_t, std::size_t first, std::size_t end) {
        const std::size_t n = end - first;
        Block x(n_radial * kBlock), d_x = x, y, d_y;
        std::vector<double> phi(n_radial), d_phi(n_radial);
        for (std::size_t i = 0; i < n; ++i) {
          radial_basis(config_, weights_, distances[first + i], phi.data(), d_phi.data());
          for (std::size_t k = 0; k < n_radial; ++k) {
            x[k * kBlock + i] = phi[k];
            d_x[k * kBlock + i] = d_phi[k];
          }
        }
        if (part_ == Part::cutoff) {
          x.assign(kBlock, 1);
          d_x.assign(kBlock, 0);
        }
        for (const HostLinear* const map : maps_) {
          multiply(*map, true, x, y);
          multiply(*map, false, d_x, d_y);
          if (part_ == Part::layer) activate_block(config_.unit, y, d_y);
          x.swap(y);
          d_x.swap(d_y);
        }
        for (std::size_t i = 0; i < n; ++i) {
          WithSlope cutoff{1, 0};
          if (part_ != Part::first_map)
            cutoff =
                cosine_cutoff(distances[first + i], config_.cutoff_lower, config_.cutoff_upper);
          for (std::size_t c = 0; c < n_functions_all; ++c) {
            const double value = x[c * kBlock + i], slope = d_x[c * kBlock + i];
            values[(first + i) * n_functions_all + c] = cutoff.value * value;
            slopes[(first + i) * n_functions_all + c] = cutoff.value * slope + cutoff.slope * value;
          }
        }
      });
}

}  // namespace biogpu::models::tensornet
