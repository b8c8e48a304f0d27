// .npy and .npz from any bytes: an Error, or arrays with as many numbers as their shapes say.
#include "lib/io/arrays/array_reader.hpp"

#include <libdeflate.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/support/expect_error.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;

namespace {

std::uint64_t number(const std::string& file, std::size_t at, int n_bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < n_bytes; ++i)
    value |= std::uint64_t{static_cast<unsigned char>(file[at + static_cast<std::size_t>(i)])}
             << (8 * i);
  return value;
}

// Checksums of the stored members, by the sizes of their directory.
void repair(std::string& file) {
  for (std::size_t at = file.find("PK\x01\x02"); at < file.size();
       at = file.find("PK\x01\x02", at + 4)) {
    if (file.size() - at < 46 || number(file, at + 10, 2) != 0) continue;
    const std::uint64_t size = number(file, at + 20, 4), local = number(file, at + 42, 4);
    if (local > file.size() || file.size() - local < 30) continue;
    const std::uint64_t begin =
        local + 30 + number(file, local + 26, 2) + number(file, local + 28, 2);
    if (begin > file.size() || size > file.size() - begin) continue;
    const std::uint32_t crc = size == 0 ? 0 : libdeflate_crc32(0, file.data() + begin, size);
    for (unsigned i = 0; i < 4; ++i) file[at + 16 + i] = static_cast<char>(crc >> (8 * i));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const fuzz::MemoryFile memory(bytes, n);
  const std::string path = memory.path();
  fuzz::expect_error_of(path, [&] {
    const io::ArrayFile file(path);
    for (const std::string& key : file.keys()) {
      const io::LoadedArray array = file.read(key);
      std::size_t n_numbers = 1;
      for (const std::int64_t extent : array.shape) n_numbers *= static_cast<std::size_t>(extent);
      fuzz::require(array.values.size() == n_numbers, "the number of numbers");
    }
  });
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed,
                           {fuzz::Layout::binary, nullptr, nullptr, repair});
}
