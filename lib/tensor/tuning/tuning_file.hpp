#pragma once

#include <string>
#include <vector>

#include "lib/tensor/context.hpp"
#include "lib/tensor/tuning/tile_table.hpp"

namespace biogpu::tensor {

// The tile that was fastest for a product.
struct TunedTile {
  TiledProduct product;
  int columns = 0;
  double speedup = 0;  // of the block in which it was found, over the kernels' rule
};

// What was found on a kind of device, with a version of biogpu: for others it does not count.
struct DeviceTuning {
  std::string device;  // as the driver names it
  std::string version;
  std::vector<TunedTile> tiles;
};

// The file of tuning data: BIOGPU_TUNING, else tuning.json in cost::cache_folder(); empty for none.
std::string tuning_path();

// Nothing where the path is empty or there is no such file. Throws Error{bad_input} for a file of
// another kind or form, and for a tile that no kernel has.
std::vector<DeviceTuning> read_tuning(const std::string& path);
std::string format_tuning(const std::vector<DeviceTuning>& tuning);

// The entry of a device with this version; made where there is none.
DeviceTuning& tuning_of(std::vector<DeviceTuning>& tuning, const std::string& device);
// Sets the tiles of a device by its entry with this version.
void fill_tiles(TileTable& table, const std::vector<DeviceTuning>& tuning,
                const std::string& device);

// The table of a context, which stays its own, and the name of its device; a null table for other
// contexts than a GPU's.
struct DeviceTiles {
  TileTable* table = nullptr;
  std::string device;
};
DeviceTiles device_tiles(Context& context);

// Arguments of the context's operation "tensor.tiles".
struct DeviceTilesArgs {
  DeviceTiles* tiles;
};

}  // namespace biogpu::tensor
