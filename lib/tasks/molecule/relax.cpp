#include "lib/tasks/molecule/relax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/tasks/molecule/energy.hpp"
#include "lib/tasks/molecule/optimizer.hpp"

namespace biogpu::tasks {
namespace {

using models::AtomSystem;
using models::PotentialResult;
using Matrix = std::array<double, 9>;

constexpr Matrix kIdentity{1, 0, 0, 0, 1, 0, 0, 0, 1};

Matrix transposed_inverse(const Matrix& m) {
  const auto cofactor = [&](std::size_t row, std::size_t column) {
    const std::size_t r1 = (row + 1) % 3, r2 = (row + 2) % 3;
    const std::size_t c1 = (column + 1) % 3, c2 = (column + 2) % 3;
    return m[3 * r1 + c1] * m[3 * r2 + c2] - m[3 * r1 + c2] * m[3 * r2 + c1];
  };
  const double determinant = m[0] * cofactor(0, 0) + m[1] * cofactor(0, 1) + m[2] * cofactor(0, 2);
  Matrix result{};
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 3; ++column)
      result[3 * row + column] = cofactor(row, column) / determinant;
  return result;
}

// to[k, :] = from[k, :] times m, or times its transpose.
void multiply_rows(const double* from, std::size_t n_rows, const Matrix& m, bool transposed,
                   double* to) {
  for (std::size_t row = 0; row < n_rows; ++row)
    for (std::size_t d = 0; d < 3; ++d) {
      double sum = 0;
      for (std::size_t k = 0; k < 3; ++k)
        sum += from[3 * row + k] * (transposed ? m[3 * d + k] : m[3 * k + d]);
      to[3 * row + d] = sum;
    }
}

// A system with the coordinates that an optimiser sees. With a box these are the atoms of the box
// that it began with, y, and its deformation D, three rows more: x = y D, box = first box D. D is
// scaled by the number of atoms, so that its slope is of the size of forces (as in Tadmor et al.
// 1999, doi 10.1103/PhysRevB.59.235).
class Relaxation {
 public:
  Relaxation(AtomSystem& system, std::vector<std::uint8_t> fixed, const RelaxOptions& options)
      : system_(system),
        fixed_(std::move(fixed)),
        with_box_(options.relax_box && system.box.has_value()),
        options_(options),
        optimizer_(make_optimizer(options.optimizer, options.step_limit)),
        coordinates_(system.positions) {
    if (!with_box_) return;
    first_box_ = *system.box;
    scale_ = static_cast<double>(system.n_atoms());
    for (const double x : kIdentity) coordinates_.push_back(scale_ * x);
  }

  // Throws Error{bad_input} for a box with fixed atoms.
  void check(const std::string& place) const {
    if (with_box_ && std::find(fixed_.begin(), fixed_.end(), 1) != fixed_.end())
      throw Error(ErrorCode::bad_input,
                  place + ": has fixed atoms (move_mask); a box that relaxes moves all atoms");
  }

  bool is_converged(const PotentialResult& result, double ev_per_energy) const {
    if (max_force(result.forces, fixed_) * ev_per_energy > options_.max_force) return false;
    if (!with_box_) return true;
    const double to_stress = ev_per_energy / models::volume_of(*system_.box);
    return std::all_of(result.virial.begin(), result.virial.end(),
                       [&](double x) { return std::abs(x * to_stress) <= options_.max_stress; });
  }

  void step(const PotentialResult& result, double ev_per_energy) {
    std::vector<double> forces(coordinates_.size());
    const std::size_t n = system_.n_atoms();
    if (with_box_) {
      const Matrix inverse = transposed_inverse(deformation_);
      multiply_rows(result.forces.data(), n, deformation_, true, forces.data());
      // dE/dD = D^-T virial
      for (std::size_t row = 0; row < 3; ++row)
        for (std::size_t d = 0; d < 3; ++d) {
          double sum = 0;
          for (std::size_t k = 0; k < 3; ++k)
            sum += inverse[3 * row + k] * symmetric(result.virial, k, d);
          forces[3 * n + 3 * row + d] = -sum / scale_;
        }
    } else {
      forces = result.forces;
      for (std::size_t i = 0; i < fixed_.size(); ++i)
        if (fixed_[i]) forces[i] = 0;
    }
    for (double& force : forces) force *= ev_per_energy;
    optimizer_->step(coordinates_, forces);
    set_positions();
  }

 private:
  // What is left of the virial's asymmetry by rounding would turn the box.
  static double symmetric(const Matrix& m, std::size_t i, std::size_t j) {
    return 0.5 * (m[3 * i + j] + m[3 * j + i]);
  }

  void set_positions() {
    const std::size_t n = system_.n_atoms();
    if (!with_box_) {
      system_.positions = coordinates_;
      return;
    }
    for (std::size_t i = 0; i < 9; ++i) deformation_[i] = coordinates_[3 * n + i] / scale_;
    multiply_rows(coordinates_.data(), n, deformation_, false, system_.positions.data());
    multiply_rows(first_box_.data(), 3, deformation_, false, system_.box->data());
  }

  AtomSystem& system_;
  const std::vector<std::uint8_t> fixed_;
  const bool with_box_;
  const RelaxOptions& options_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<double> coordinates_;
  Matrix first_box_{};
  Matrix deformation_ = kIdentity;
  double scale_ = 1;
};

void check_system(const models::PotentialModel& model, const AtomSystem& system, LazyText place) {
  try {
    model.check(system);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", place.str(), error.what()));
  }
}

}  // namespace

void relax(models::PotentialModel& model, std::vector<AtomSystem>& systems,
           const std::vector<std::string>& places, const RelaxOptions& options,
           const std::function<void(const RelaxPoint&)>& on_point, const OnRefused& on_refused,
           const std::vector<std::vector<std::uint8_t>>& fixed) {
  const double ev = model.info().ev_per_energy;
  std::vector<Relaxation> relaxations;
  relaxations.reserve(systems.size());
  for (std::size_t i = 0; i < systems.size(); ++i)
    relaxations.emplace_back(systems[i], fixed.empty() ? std::vector<std::uint8_t>{} : fixed[i],
                             options);
  std::vector<std::size_t> active(systems.size());
  std::iota(active.begin(), active.end(), std::size_t{0});
  for (int step = 0; !active.empty(); ++step) {
    std::vector<AtomSystem> batch;
    std::vector<std::size_t> computed;
    const auto place_of = [&](std::size_t i) {
      return fmt::format("{}: step {}", places[i], step);
    };
    for (const std::size_t i : active) {
      try {
        if (step == 0) relaxations[i].check(places[i]);
        check_system(model, systems[i], [&] { return place_of(i); });
      } catch (const Error& error) {
        if (!on_refused || error.code() != ErrorCode::bad_input) throw;
        on_refused(i, error.what());
        continue;
      }
      batch.push_back(systems[i]);
      computed.push_back(i);
    }
    if (batch.empty()) return;
    const std::vector<PotentialResult> results =
        compute_systems(model, batch, [&](std::size_t k) { return place_of(computed[k]); },
                        {true, options.relax_box, false});
    std::vector<std::size_t> next;
    for (std::size_t k = 0; k < computed.size(); ++k) {
      const std::size_t i = computed[k];
      require_finite(results[k], [&] { return place_of(i); });
      const bool converged = relaxations[i].is_converged(results[k], ev);
      const bool is_last = converged || step == options.max_steps;
      on_point({i, step, converged, is_last, &systems[i], &results[k]});
      if (is_last) continue;
      relaxations[i].step(results[k], ev);
      next.push_back(i);
    }
    active = std::move(next);
  }
}

}  // namespace biogpu::tasks
