// Sequence letters as two bits a base, and which of them are none of ACGTacgt.
//
// Shapes   letters[32 t] u8; bases[2 t] u32, 16 bases each, the first in the highest pair;
//          invalid[t] u32, bit i for letter 32 t + i.
// Mapping  one thread per 32 letters, 256 threads a block; the number of words is even.
// Traffic  32 + 12 bytes per 32 letters; memory bound.
// Result   exact.
// Source   own.
// Oracle   append_keys, lib/kmer/sequence_keys.cpp, through the k-mers.
#include "gpu/kmer/letters.hpp"

#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::kmer {
namespace {

constexpr unsigned kBlock = 256;

struct alignas(16) Letters16 {
  std::uint32_t word[4];
};

__device__ __forceinline__ void pack_16(const Letters16& from, std::uint32_t& bases,
                                        std::uint32_t& invalid) {
  bases = 0;
  invalid = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const std::uint32_t letter = from.word[i / 4] >> 8 * (i % 4) & 0xff;
    const std::uint32_t upper = letter & 0xdf;
    const std::uint32_t actg = letter >> 1 & 3;  // A 0, C 1, T 2, G 3
    bases = bases << 2 | (actg ^ actg >> 1);
    const bool is_base = upper == 'A' || upper == 'C' || upper == 'G' || upper == 'T';
    invalid |= (is_base ? 0u : 1u) << i;
  }
}

__global__ void pack_letters_kernel(PackLettersArgs a) {
  const std::size_t i = std::size_t{blockIdx.x} * kBlock + threadIdx.x;
  if (2 * i >= a.n_words) return;
  const auto* from = reinterpret_cast<const Letters16*>(a.letters) + 2 * i;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  pack_16(from[0], a.bases[2 * i], low);
  pack_16(from[1], a.bases[2 * i + 1], high);
  a.invalid[i] = low | high << 16;
}

}  // namespace

void launch_pack_letters(const PackLettersArgs& args, Stream& stream) {
  if (args.n_words == 0) return;
  stream.launch(pack_letters_kernel, ceil_div<std::size_t>(args.n_words / 2, kBlock), kBlock, args);
}

}  // namespace biogpu::gpu::kmer
