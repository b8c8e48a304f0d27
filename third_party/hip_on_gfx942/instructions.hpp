#pragma once

// What an instruction of gfx942 does, as code of this machine (translate.py).

#include <cstdint>
#include <string>

namespace hip_on_gfx942 {

// The arrays that the code of an instruction may take, in this order.
enum Arrays { kScalars, kVectors, kMemory, kShared, kScratch, kAccumulators, kNumArrays };

struct Instruction {
  using Code = void (*)(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                        std::uint64_t);
  Code code = nullptr;
  std::uint8_t size = 0;
  bool is_barrier = false;
  std::uint8_t arguments[kNumArrays] = {};  // which array each argument of the code is
  const std::string* name = nullptr;
};

// The instruction at an address. Throws std::runtime_error where it cannot be translated.
const Instruction& instruction_at(std::uint64_t address);

}  // namespace hip_on_gfx942
