#pragma once

#include <cstddef>
#include <cstdint>

namespace biogpu::gpu {
class Stream;
}

namespace biogpu::gpu::kmer {

// Letters to two bits a base. Device memory throughout.
struct PackLettersArgs {
  const char* letters = nullptr;   // [n_words * 16]; what follows the text is no base
  std::uint32_t* bases = nullptr;  // [n_words] 16 bases each, the first in the highest pair
  std::uint32_t* invalid =
      nullptr;              // [ceil(n_words / 2)] bit i % 32 of word i / 32: letter i is no base
  std::size_t n_words = 0;  // even
};

void launch_pack_letters(const PackLettersArgs& args, Stream& stream);

}  // namespace biogpu::gpu::kmer
