// Sums of the messages that come into atoms, without the one that came from where they go.
//
// Shapes   see lib/models/dualbind/ops/bond_messages.hpp; d numbers a row, about 2 to 4 bonds an
//          atom.
// Mapping  one thread per column of a row, the bonds one after the other.
// Traffic  3 to 5 rows of d numbers read for one written, most of them from L2; memory bound.
// Result   fp32 sums in the order of the bonds: the same for all grids and widths.
// Source   Yang et al. 2019, doi 10.1021/acs.jcim.9b00237.
// Oracle   bond_messages_ref, lib/models/dualbind/ops/bond_messages_ref.cpp.
#include "lib/models/dualbind/ops/bond_messages.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/element_access.hpp"
#include "gpu/ops/row_threads.hpp"

namespace biogpu::gpu::dualbind {
namespace {

using ops::kRowBlock;
using ops::row_group;
using ops::RowGroup;

struct MessageArrays {
  const float* m;
  std::int64_t m_stride;
  const std::int32_t *starts, *order;
  const std::int32_t *atoms, *without;  // or null
  ops::Rows out;
  std::int64_t n_rows;
  int d;
};

// And not a number stays so.
__device__ __forceinline__ float relu(float x) { return x < 0 ? 0.0f : x; }

__global__ __launch_bounds__(kRowBlock) void bond_messages_kernel(MessageArrays a) {
  const RowGroup at = row_group(a.d);
  if (at.row >= a.n_rows) return;
  const std::int64_t atom = a.atoms != nullptr ? a.atoms[at.row] : at.row;
  float sum = 0;
  for (std::int32_t e = a.starts[atom]; e < a.starts[atom + 1]; ++e)
    sum += relu(a.m[a.order[e] * a.m_stride + at.group]);
  if (a.without != nullptr) sum -= relu(a.m[a.without[at.row] * a.m_stride + at.group]);
  ops::store_element(a.out, at.row, at.group, sum);
}

}  // namespace

void bond_messages(ops::Device& device, const models::dualbind::BondMessages& op) {
  const MessageArrays arrays{op.m.as<float>(),
                             op.m.stride[0],
                             op.starts.as<std::int32_t>(),
                             op.order.as<std::int32_t>(),
                             op.atoms.as<std::int32_t>(),
                             op.without.as<std::int32_t>(),
                             ops::rows_of(op.out),
                             op.out.shape[0],
                             static_cast<int>(op.out.shape[1])};
  if (arrays.n_rows == 0) return;
  device.stream().launch(bond_messages_kernel, ops::row_blocks(arrays.n_rows * arrays.d), kRowBlock,
                         arrays);
}

}  // namespace biogpu::gpu::dualbind
