#include "lib/models/tensornet/ops/charge_ops.hpp"
#include "lib/models/tensornet/ops/coulomb_pair.hpp"
#include "lib/ops/cartesian_tensor/tensor_lanes.hpp"

namespace biogpu::models::tensornet {
namespace {

using ops::Lanes;

// The charges of one kind in a system are few: each is a thread's, with sums in double precision.
struct BalanceSums {
  double charge = 0, softness = 1e-6;
  BalanceSums(const Tensor& x, std::int64_t begin, std::int64_t end, std::int64_t c) {
    for (std::int64_t i = begin; i < end; ++i) {
      const double f = x.row<float>(i)[x.shape[1] / 2 + c];
      charge += static_cast<double>(x.row<float>(i)[c]);
      softness += f * f;
    }
  }
};

// body(first atom, end, kind of charge)
template <class Body>
void for_balances(CpuContext& context, const Tensor& x, const Tensor& starts, const Body& body) {
  const std::int64_t n_kinds = x.shape[1] / 2;
  const auto* const at = starts.as<std::int32_t>();
  context.for_each((starts.shape[0] - 1) * n_kinds, [&](std::int64_t k) {
    body(at[k / n_kinds], at[k / n_kinds + 1], k % n_kinds);
  });
}

Lanes weighted_product(const float* weights, const float* a, const float* b, std::int64_t n) {
  Lanes sum = {};
  for (std::int64_t c = 0; c < n; c += ops::kLanes)
    sum += ops::load_lanes(weights + c, n - c) * ops::load_lanes(a + c, n - c) *
           ops::load_lanes(b + c, n - c);
  return sum;
}

float sum_of(const Lanes& lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

void add_coulomb_of(const Coulomb& op, std::int64_t i) {
  const auto* const starts = op.edges->starts.as<std::int32_t>();
  const std::int64_t n_kinds = op.charges.shape[1];
  double sum = 0;
  for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
    const CoulombPair<float> pair(op.edges->distance.as<float>()[e], static_cast<float>(op.cutoff));
    const float* const of_j = op.charges.row<float>(op.edges->neighbours.as<std::int32_t>()[e]);
    sum += static_cast<double>(
        pair.value *
        sum_of(weighted_product(op.weights.as<float>(), op.charges.row<float>(i), of_j, n_kinds)));
  }
  op.out.row<float>(i)[0] += static_cast<float>(sum);
}

void coulomb_grad_of(const CoulombGrad& op, std::int64_t i) {
  const auto* const starts = op.edges->starts.as<std::int32_t>();
  const std::int64_t n_kinds = op.charges.shape[1];
  const float* const weights = op.weights.as<float>();
  float* const d = op.d_charges.row<float>(i);
  for (std::int64_t c = 0; c < n_kinds; ++c) d[c] = 0;
  for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
    const CoulombPair<float> pair(op.edges->distance.as<float>()[e], static_cast<float>(op.cutoff));
    const float* const of_j = op.charges.row<float>(op.edges->neighbours.as<std::int32_t>()[e]);
    op.d_distance.as<float>()[e] =
        pair.slope * sum_of(weighted_product(weights, op.charges.row<float>(i), of_j, n_kinds));
    for (std::int64_t c = 0; c < n_kinds; c += ops::kLanes)
      ops::store_lanes(ops::load_lanes(d + c, n_kinds - c) +
                           2 * pair.value * ops::load_lanes(weights + c, n_kinds - c) *
                               ops::load_lanes(of_j + c, n_kinds - c),
                       d + c, n_kinds - c);
  }
}

}  // namespace

void charge_features_cpu(CpuContext& context, const ChargeFeatures& op) {
  const std::int64_t step = ops::number_step(op.x), d = op.x.shape[2];
  ops::for_tensors(context, op.x,
                   [&](std::int64_t i, std::int64_t f, std::int64_t at, std::int64_t n) {
                     const auto x = ops::load_numbers(op.x.as<float>() + at, step, n);
                     const auto norms = ops::norms(x);
                     float* const out = op.out.row<float>(i) + f;
                     ops::store_lanes(x.n[0], out, n);
                     ops::store_lanes(norms.antisymmetric, out + d, n);
                     ops::store_lanes(norms.symmetric, out + 2 * d, n);
                   });
}

void charge_features_grad_cpu(CpuContext& context, const ChargeFeaturesGrad& op) {
  const std::int64_t step = ops::number_step(op.x), d = op.x.shape[2];
  ops::for_tensors(
      context, op.x, [&](std::int64_t i, std::int64_t f, std::int64_t at, std::int64_t n) {
        const float* const g = op.d_out.row<float>(i) + f;
        const ops::Norms3<Lanes> d_norms{Lanes{}, ops::load_lanes(g + d, n),
                                         ops::load_lanes(g + 2 * d, n)};
        auto sum = ops::norms_grad(ops::load_numbers(op.x.as<float>() + at, step, n), d_norms);
        sum.n[0] = ops::load_lanes(g, n);
        const auto before = ops::load_numbers(op.d_x.as<float>() + at, step, n);
        for (int c = 0; c < 9; ++c) sum.n[c] += before.n[c];
        ops::store_numbers(sum, op.d_x.as<float>() + at, step, n);
      });
}

void charge_balance_cpu(CpuContext& context, const ChargeBalance& op) {
  for_balances(context, op.x, op.starts, [&](std::int64_t begin, std::int64_t end, std::int64_t c) {
    const BalanceSums sums(op.x, begin, end, c);
    for (std::int64_t i = begin; i < end; ++i) {
      const double f = op.x.row<float>(i)[op.x.shape[1] / 2 + c];
      const double missing = static_cast<double>(op.total.as<float>()[i]) - sums.charge;
      op.out.row<float>(i)[c] = static_cast<float>(static_cast<double>(op.x.row<float>(i)[c]) +
                                                   f * f / sums.softness * missing);
    }
  });
}

void charge_balance_grad_cpu(CpuContext& context, const ChargeBalanceGrad& op) {
  const std::int64_t n_kinds = op.x.shape[1] / 2;
  for_balances(context, op.x, op.starts, [&](std::int64_t begin, std::int64_t end, std::int64_t c) {
    const BalanceSums sums(op.x, begin, end, c);
    double mixed = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const double f = op.x.row<float>(i)[n_kinds + c];
      mixed += static_cast<double>(op.d_out.row<float>(i)[c]) * f * f / sums.softness;
    }
    for (std::int64_t i = begin; i < end; ++i) {
      const double f = op.x.row<float>(i)[n_kinds + c];
      const double off = static_cast<double>(op.d_out.row<float>(i)[c]) - mixed;
      const double missing = static_cast<double>(op.total.as<float>()[i]) - sums.charge;
      op.d_x.row<float>(i)[c] = static_cast<float>(off);
      op.d_x.row<float>(i)[n_kinds + c] = static_cast<float>(2 * f * missing / sums.softness * off);
    }
  });
}

void coulomb_cpu(CpuContext& context, const Coulomb& op) {
  context.for_rows(op.charges.shape[0], [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) add_coulomb_of(op, i);
  });
}

void coulomb_grad_cpu(CpuContext& context, const CoulombGrad& op) {
  context.for_rows(op.charges.shape[0], [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) coulomb_grad_of(op, i);
  });
}

}  // namespace biogpu::models::tensornet
