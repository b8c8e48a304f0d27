// Energies of pairs of atoms within a distance.
//
// Shapes   see lib/models/dualbind/ops/pair_energy.hpp; d numbers an atom, about 30 and 400 atoms.
// Mapping  a block of 256 threads a complex. Parts of 32 atoms of the ligand and 32 of the pocket:
//          all threads find which pairs are near; then a thread per column adds the
//          near atoms of the ligand for each atom of the pocket, and multiplies once.
// Traffic  d numbers an atom of the pocket, once for each 32 atoms of the ligand; those of the
//          ligand from cache. Bound by additions: pairs x d.
// Result   sums over atoms of the ligand in fp32, of all else in double precision, in a fixed
//          order: the same for all widths.
// Source   own.
// Oracle   pair_energy_ref, lib/models/dualbind/ops/pair_energy_ref.cpp.
#include "gpu/models/dualbind/block_sum.hpp"
#include "gpu/ops/device.hpp"

#define BIOGPU_TOKEN_FUNCTION __device__ __forceinline__
#include "lib/models/dualbind/ops/token_rows.hpp"
#define BIOGPU_PAIR_FUNCTION __device__ __forceinline__
#include "lib/models/dualbind/ops/pair_energy.hpp"

namespace biogpu::gpu::dualbind {
namespace {

namespace model = biogpu::models::dualbind;

constexpr int kPairBlock = 256;
constexpr int kPart = 32;  // atoms of each side

struct PairArrays {
  const float *ligand, *pocket;
  std::int64_t ligand_stride, pocket_stride, n_ligands;  // n_ligands: rows of `ligand`
  const float* positions;
  const std::int32_t *starts, *ligand_starts;
  std::int64_t n_complexes;
  float cutoff;
  double* energy;
  int d;
};

// near[32 j + i]: whether atom i of the part of the ligand is near to atom j of that of the pocket.
__device__ __forceinline__ void find_near(const PairArrays& a, std::int64_t first_i, int n_i,
                                          std::int64_t first_j, int n_j, std::uint8_t* near) {
  for (int pair = static_cast<int>(threadIdx.x); pair < kPart * kPart; pair += kPairBlock) {
    const int i = pair % kPart, j = pair / kPart;
    near[pair] =
        i < n_i && j < n_j &&
        model::is_near(a.positions + 3 * (first_i + i), a.positions + 3 * (first_j + j), a.cutoff);
  }
}

__global__ __launch_bounds__(kPairBlock) void pair_energy_kernel(PairArrays a) {
  __shared__ double sums[kPairBlock];
  __shared__ std::uint8_t near[kPart * kPart];
  const std::int64_t complex = blockIdx.x;
  const model::TokenRows rows(a.starts, a.ligand_starts, a.n_complexes, complex);
  const std::int64_t n_pocket = rows.n_pocket();
  double energy = 0;
  for (std::int64_t i0 = 0; i0 < rows.n_ligand; i0 += kPart) {
    const int n_i = static_cast<int>(rows.n_ligand - i0 < kPart ? rows.n_ligand - i0 : kPart);
    const float* const b = a.ligand + (rows.first_ligand + i0) * a.ligand_stride;
    for (std::int64_t j0 = 0; j0 < n_pocket; j0 += kPart) {
      const int n_j = static_cast<int>(n_pocket - j0 < kPart ? n_pocket - j0 : kPart);
      __syncthreads();  // the part before has been read
      find_near(a, rows.begin + i0, n_i, rows.begin + rows.n_ligand + j0, n_j, near);
      __syncthreads();
      const float* const t = a.pocket + (rows.first_pocket - a.n_ligands + j0) * a.pocket_stride;
      for (int k = static_cast<int>(threadIdx.x); k < a.d; k += kPairBlock) {
        for (int j = 0; j < n_j; ++j) {
          float sum = 0;
          for (int i = 0; i < n_i; ++i)
            if (near[j * kPart + i] != 0) sum += b[i * a.ligand_stride + k];
          energy += static_cast<double>(t[j * a.pocket_stride + k]) * static_cast<double>(sum);
        }
      }
    }
  }
  const double total = block_sum<kPairBlock>(energy, sums);
  if (threadIdx.x == 0) a.energy[complex] = total;
}

}  // namespace

void pair_energy(ops::Device& device, const model::PairEnergy& op) {
  const auto n_complexes = static_cast<std::size_t>(op.energy.shape[0]);
  if (n_complexes == 0) return;
  const PairArrays arrays{op.ligand.as<float>(),        op.pocket.as<float>(),
                          op.ligand.stride[0],          op.pocket.stride[0],
                          op.ligand.shape[0],           op.positions.as<float>(),
                          op.starts.as<std::int32_t>(), op.ligand_starts.as<std::int32_t>(),
                          op.energy.shape[0],           op.cutoff,
                          op.energy.as<double>(),       static_cast<int>(op.ligand.shape[1])};
  device.stream().launch(pair_energy_kernel, n_complexes, kPairBlock, arrays);
}

}  // namespace biogpu::gpu::dualbind
