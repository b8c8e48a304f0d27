#include <vector>

#include "lib/models/tensornet/ops/charge_ops.hpp"
#include "lib/models/tensornet/ops/coulomb_pair.hpp"
#include "lib/ops/cartesian_tensor/matrix3.hpp"
#include "lib/ops/cartesian_tensor/tensor_parts.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::models::tensornet {
namespace {

using ops::reference::with_real;

constexpr double kSoftness = 1e-6;  // that is added to the sum of f^2

// Number c of channel f of atom i in an array [9, T, F].
template <class T>
T& number_at(const Tensor& x, std::int64_t c, std::int64_t i, std::int64_t f) {
  return x.as<T>()[(c * x.shape[1] + i) * x.shape[2] + f];
}

// The inner product of the matrices that two numbers of one part stand for.
double metric(int c, int k) {
  return ops::reference::inner(ops::reference::basis(c), ops::reference::basis(k));
}

template <class T>
double part_norm(const Tensor& x, int part, std::int64_t i, std::int64_t f) {
  double sum = 0;
  for (int c = 0; c < 9; ++c)
    for (int k = 0; k < 9; ++k)
      if (ops::part_of(c, 9) == part && ops::part_of(k, 9) == part)
        sum += metric(c, k) * static_cast<double>(number_at<T>(x, c, i, f)) *
               static_cast<double>(number_at<T>(x, k, i, f));
  return sum;
}

// Sums of one kind of charge over a system.
struct SystemSums {
  double charge = 0, softness = kSoftness;
};

template <class T>
SystemSums sums_of(const Tensor& x, std::int64_t begin, std::int64_t end, std::int64_t c) {
  const std::int64_t n_kinds = x.shape[1] / 2;
  SystemSums sums;
  for (std::int64_t i = begin; i < end; ++i) {
    const double f = x.row<T>(i)[n_kinds + c];
    sums.charge += static_cast<double>(x.row<T>(i)[c]);
    sums.softness += f * f;
  }
  return sums;
}

// body(first atom, end, kind of charge)
template <class Body>
void for_systems(const Tensor& x, const Tensor& starts, const Body& body) {
  const auto* const at = starts.as<std::int32_t>();
  for (std::int64_t s = 0; s + 1 < starts.shape[0]; ++s)
    for (std::int64_t c = 0; c < x.shape[1] / 2; ++c) body(at[s], at[s + 1], c);
}

template <class T>
void balance_back(const ChargeBalanceGrad& op, std::int64_t begin, std::int64_t end,
                  std::int64_t c) {
  const SystemSums sums = sums_of<T>(op.x, begin, end, c);
  const std::int64_t n_kinds = op.x.shape[1] / 2;
  double mixed = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    const double f = op.x.row<T>(i)[n_kinds + c];
    mixed += static_cast<double>(op.d_out.row<T>(i)[c]) * f * f / sums.softness;
  }
  for (std::int64_t i = begin; i < end; ++i) {
    const double f = op.x.row<T>(i)[n_kinds + c];
    const double off = static_cast<double>(op.d_out.row<T>(i)[c]) - mixed;
    const double missing = static_cast<double>(op.total.as<T>()[i]) - sums.charge;
    op.d_x.row<T>(i)[c] = static_cast<T>(off);
    op.d_x.row<T>(i)[n_kinds + c] = static_cast<T>(2 * f * missing / sums.softness * off);
  }
}

// Sum over kinds of charge of two atoms.
template <class T>
double product_of(const Tensor& charges, const Tensor& weights, std::int64_t i, std::int64_t j) {
  double sum = 0;
  for (std::int64_t c = 0; c < charges.shape[1]; ++c)
    sum += static_cast<double>(weights.as<T>()[c]) * static_cast<double>(charges.row<T>(i)[c]) *
           static_cast<double>(charges.row<T>(j)[c]);
  return sum;
}

template <class T>
void coulomb_back(const CoulombGrad& op, std::int64_t i) {
  const auto* const starts = op.edges->starts.as<std::int32_t>();
  const std::int64_t n_kinds = op.charges.shape[1];
  std::vector<double> sums(static_cast<std::size_t>(n_kinds));
  for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
    const std::int64_t j = op.edges->neighbours.as<std::int32_t>()[e];
    const CoulombPair<double> pair(static_cast<double>(op.edges->distance.as<T>()[e]), op.cutoff);
    op.d_distance.as<T>()[e] =
        static_cast<T>(pair.slope * product_of<T>(op.charges, op.weights, i, j));
    for (std::int64_t c = 0; c < n_kinds; ++c)
      sums[static_cast<std::size_t>(c)] += 2 * pair.value *
                                           static_cast<double>(op.weights.as<T>()[c]) *
                                           static_cast<double>(op.charges.row<T>(j)[c]);
  }
  for (std::int64_t c = 0; c < n_kinds; ++c)
    op.d_charges.row<T>(i)[c] = static_cast<T>(sums[static_cast<std::size_t>(c)]);
}

}  // namespace

void charge_features_ref(const ChargeFeatures& op) {
  with_real(op.x, [&](auto real) {
    using T = decltype(real);
    const std::int64_t d = op.x.shape[2];
    for (std::int64_t i = 0; i < op.x.shape[1]; ++i)
      for (std::int64_t f = 0; f < d; ++f) {
        T* const out = op.out.row<T>(i) + f;
        out[0] = number_at<T>(op.x, 0, i, f);
        out[d] = static_cast<T>(part_norm<T>(op.x, 1, i, f));
        out[2 * d] = static_cast<T>(part_norm<T>(op.x, 2, i, f));
      }
  });
}

void charge_features_grad_ref(const ChargeFeaturesGrad& op) {
  with_real(op.x, [&](auto real) {
    using T = decltype(real);
    const std::int64_t d = op.x.shape[2];
    for (std::int64_t i = 0; i < op.x.shape[1]; ++i)
      for (std::int64_t f = 0; f < d; ++f)
        for (int c = 0; c < 9; ++c) {
          const int part = ops::part_of(c, 9);
          double slope = part == 0 ? 1 : 0;
          for (int k = 0; part > 0 && k < 9; ++k)
            if (ops::part_of(k, 9) == part)
              slope += 2 * metric(c, k) * static_cast<double>(number_at<T>(op.x, k, i, f));
          T& to = number_at<T>(op.d_x, c, i, f);
          to = static_cast<T>(static_cast<double>(to) +
                              slope * static_cast<double>(op.d_out.row<T>(i)[part * d + f]));
        }
  });
}

void charge_balance_ref(const ChargeBalance& op) {
  with_real(op.x, [&](auto real) {
    using T = decltype(real);
    for_systems(op.x, op.starts, [&](std::int64_t begin, std::int64_t end, std::int64_t c) {
      const SystemSums sums = sums_of<T>(op.x, begin, end, c);
      for (std::int64_t i = begin; i < end; ++i) {
        const double f = op.x.row<T>(i)[op.x.shape[1] / 2 + c];
        const double missing = static_cast<double>(op.total.as<T>()[i]) - sums.charge;
        op.out.row<T>(i)[c] = static_cast<T>(static_cast<double>(op.x.row<T>(i)[c]) +
                                             f * f / sums.softness * missing);
      }
    });
  });
}

void charge_balance_grad_ref(const ChargeBalanceGrad& op) {
  with_real(op.x, [&](auto real) {
    using T = decltype(real);
    for_systems(op.x, op.starts, [&](std::int64_t begin, std::int64_t end, std::int64_t c) {
      balance_back<T>(op, begin, end, c);
    });
  });
}

void coulomb_ref(const Coulomb& op) {
  with_real(op.charges, [&](auto real) {
    using T = decltype(real);
    const auto* const starts = op.edges->starts.as<std::int32_t>();
    for (std::int64_t i = 0; i < op.charges.shape[0]; ++i) {
      double sum = static_cast<double>(op.out.row<T>(i)[0]);
      for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
        const CoulombPair<double> pair(static_cast<double>(op.edges->distance.as<T>()[e]),
                                       op.cutoff);
        sum += pair.value *
               product_of<T>(op.charges, op.weights, i, op.edges->neighbours.as<std::int32_t>()[e]);
      }
      op.out.row<T>(i)[0] = static_cast<T>(sum);
    }
  });
}

void coulomb_grad_ref(const CoulombGrad& op) {
  with_real(op.charges, [&](auto real) {
    for (std::int64_t i = 0; i < op.charges.shape[0]; ++i) coulomb_back<decltype(real)>(op, i);
  });
}

}  // namespace biogpu::models::tensornet
