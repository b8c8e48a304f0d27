#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/models/base/dna_model.hpp"
#include "lib/models/layers/changed_parts.hpp"
#include "lib/models/layers/dna_transformer.hpp"
#include "lib/models/layers/tower_reach.hpp"
#include "lib/models/layers/track_config.hpp"
#include "lib/models/layers/track_heads.hpp"
#include "lib/tensor/arena.hpp"
#include "lib/tensor/ragged.hpp"

namespace biogpu::models {

// What a WindowModel is made of. A level is how often rows were pooled, two to one: letters have
// level 0.
struct WindowShape {
  std::string architecture;
  std::int64_t window = 0;  // bases
  // Channels of each level's convolution in the tower; a pool follows each.
  std::vector<std::int64_t> channels;
  bool pools_single_rows = false;  // a last row without a second one is a row of the next level
  // Width of the transformer, over the rows of the last level.
  std::int64_t width = 0, n_blocks = 0, n_heads = 0;
  // What is read of the tower: first the last level's result, f32, then convolutions of others, as
  // operands. Changed windows compute a part of it.
  struct TowerRows {
    std::size_t level = 0;
    std::int64_t width = 0;
  };
  std::vector<TowerRows> read;
  std::size_t result_level = 0;  // of the rows that bins are taken from
  BinRange bins;                 // of these rows
  std::int64_t embedding_width = 0;
  std::vector<TrackHead> heads;

  std::size_t n_levels() const { return channels.size(); }
  std::int64_t n_rows(std::size_t level) const;  // of a window
  std::int64_t bin_size() const { return std::int64_t{1} << result_level; }
  BinGrid grid() const { return {bin_size(), bins.first * bin_size(), bins.n}; }
};

// A model of windows of DNA that goes through a tower of convolutions to positions, through a
// transformer over them, and to bins of one resolution: Enformer, Borzoi. It keeps what is read of
// the tower, in the memory of its context. A changed window has no parts of the tower.
class WindowModel : public DnaModel {
 public:
  std::string describe() const override;
  Outputs run(std::span<const std::uint8_t> letters, const Request& request) override;
  bool is_near(std::span<const std::uint8_t> kept,
               std::span<const std::uint8_t> changed) const override;
  Outputs run_changed(std::span<const ChangedWindow> windows, const Request& request) override;
  std::size_t measure(std::int64_t n_windows, const Request& request) const override;

 protected:
  using Lease = tensor::Arena::Lease;
  // The inputs of a pass on the device.
  struct Batch {
    tensor::Tensor letters;              // u8, of the windows or of parts of them
    std::vector<tensor::Ragged> levels;  // the same at each level
    std::vector<tensor::Ragged> whole;   // the windows at each level from result_level on
    tensor::Tensor bins;                 // i32, rows of result_level that are bins
    TrackInputs end;

    const tensor::Ragged& positions() const { return whole.back(); }
  };

  // heads: as they were chosen; none: all of them, with all tracks.
  WindowModel(tensor::Context& context, WindowShape shape, std::vector<HeadChoice> heads);

  // Letters to what is read of the tower.
  virtual std::vector<Lease> tower(Pass& pass, const Batch& batch) const = 0;
  // Turns it into what the last product reads: operand [bins, channels].
  virtual Lease to_bins(Pass& pass, const Batch& batch, std::vector<Lease> rows) const = 0;
  virtual TrackEnd end() const = 0;
  // Takes the outputs of parts, but for those of blocks.
  virtual void take_parts(Pass& pass, const Batch& batch) const = 0;

  // Applies all blocks to x, f32 [positions, width], and fills the parts block.I. h: operand, of
  // x's shape, memory. next: of the last block's result.
  void run_blocks(Pass& pass, const Batch& batch, const DnaTransformerShape& transformer,
                  std::span<const DnaTransformerBlock> blocks, const tensor::Tensor& x,
                  const tensor::Tensor& h, const ops::Activated& next) const;

 private:
  Batch make_batch(Pass& pass, std::span<const std::uint8_t> letters, std::int64_t n_letters,
                   std::int64_t n_windows, const Request& request) const;
  // parts: of changed windows, whose letters these are; or null. slots: of windows to be kept.
  void forward(Pass& pass, std::span<const std::uint8_t> letters, const ChangedParts* parts,
               const Request& request, std::span<const KeptStore::Slot> slots) const;
  void keep(Pass& pass, const std::vector<Lease>& rows,
            std::span<const KeptStore::Slot> slots) const;

  const WindowShape shape_;
  const TowerReach reach_;
};

}  // namespace biogpu::models
