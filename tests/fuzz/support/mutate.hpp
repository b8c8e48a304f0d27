#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace biogpu::fuzz {

// How a format is mutated by its structure, not only byte by byte.
//   binary: a whole little-endian integer of 1, 2, 4 or 8 bytes becomes a value at which readers
//           break (0, 1, -1, powers of two, the file's size and its neighbours), or a block of
//           bytes is copied, removed or cut off;
//   text:   a whole decimal number, line or field becomes another, or brackets are nested deeply.
enum class Layout { binary, text };

struct Format {
  Layout layout = Layout::binary;
  // Of a format whose bytes are packed: gives the content, and packs it again. Empty for others.
  std::string (*unpack)(const std::string& file) = nullptr;
  std::string (*pack)(const std::string& content) = nullptr;
  // Writes the checksums and lengths that a reader compares first, so that a changed field is read.
  // Called before pack(). It must accept any bytes.
  void (*repair)(std::string& content) = nullptr;
};

// The body of LLVMFuzzerCustomMutator: changes the `size` bytes at `data` by 1 to 4 steps of the
// format's structure, or, one time in three, by libFuzzer's own steps, and returns the new size, at
// most `max_size`. One time in eight the file is left unrepaired, so that the checks are tested
// too.
std::size_t mutate_file(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed,
                        const Format& format);

}  // namespace biogpu::fuzz
