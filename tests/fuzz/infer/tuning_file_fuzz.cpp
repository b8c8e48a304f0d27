// A file of tuning data from any bytes: an Error, or tiles that kernels have, which are written and
// read back as they are.
#include "lib/tensor/tuning/tuning_file.hpp"

#include "tests/fuzz/support/expect_error.hpp"
#include "tests/fuzz/support/folder.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  static const fuzz::Folder folder;
  const std::string path = folder.write("tuning.json", bytes, n);
  fuzz::expect_error_of(path, [&] {
    const std::vector<tensor::DeviceTuning> tuning = tensor::read_tuning(path);
    for (const tensor::DeviceTuning& device : tuning)
      for (const tensor::TunedTile& tile : device.tiles) {
        const auto* operation = tensor::find_tiled_operation(tile.product.operation);
        fuzz::require(operation != nullptr && (tile.columns == operation->columns[0] ||
                                               tile.columns == operation->columns[1]),
                      "a tile that no kernel has");
      }
    const std::string text = tensor::format_tuning(tuning);
    folder.write("tuning.json", reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    fuzz::require(tensor::format_tuning(tensor::read_tuning(path)) == text, "another file");
  });
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed, {fuzz::Layout::text});
}
