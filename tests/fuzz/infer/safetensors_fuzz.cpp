// safetensors from any bytes: an Error, or tensors that lie in the file and can be read.
#include "lib/tensor/weights/safetensors.hpp"

#include <algorithm>
#include <vector>

#include "tests/fuzz/support/expect_error.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;

namespace {

// The header without its length, and the data.
std::string unpack(const std::string& file) {
  return file.size() < 8 ? std::string() : file.substr(8);
}

// The header ends where its first bracket is closed.
std::string pack(const std::string& content) {
  std::uint64_t size = 0;
  int depth = 0;
  for (std::size_t i = 0; i < content.size() && size == 0; ++i) {
    depth += content[i] == '{' ? 1 : content[i] == '}' ? -1 : 0;
    if (depth == 0) size = i + 1;
  }
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + content;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const fuzz::MemoryFile file(bytes, n);
  fuzz::expect_error_of(file.path(), [&] {
    const tensor::Checkpoint checkpoint = tensor::Checkpoint::open(file.path());
    std::int64_t n_numbers = 0;
    for (const auto& [name, tensor] : checkpoint.tensors()) {
      fuzz::require(tensor.bytes <= n && tensor.size() >= 0, "a tensor that is not in the file");
      n_numbers += tensor.size();
      std::vector<float> values(static_cast<std::size_t>(tensor.size()));
      fuzz::require(tensor.to_floats(values.data()) == tensor.is_floating(), "numbers of a type");
    }
    fuzz::require(n_numbers == checkpoint.n_numbers(), "the number of numbers");
  });
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed, {fuzz::Layout::text, unpack, pack, nullptr});
}
