// The program with one model, which only this file declares: heads at two resolutions, of their own
// activations, one with a step after it, over two embeddings.
#include "lib/models/base/registry.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/models/layers/conv_block.hpp"
#include "lib/models/layers/track_heads.hpp"
#include "lib/models/layers/window_rows.hpp"
#include "lib/ops/convolution/conv1d_letters.hpp"
#include "lib/ops/elementwise/silu.hpp"
#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/reduction/max_pool.hpp"
#include "lib/tensor/weights/safetensors.hpp"

namespace biogpu::models {
namespace {

using ops::Activation;
using tensor::DType;
using tensor::Tensor;

constexpr std::int64_t kWindow = 512, kTaps = 5, kChannels = 8;
constexpr std::int64_t kFineBin = 32, kCoarseBin = 128, kCrop = 2;  // fine bins at each end
constexpr std::int64_t kFineRows = kWindow / kFineBin, kCoarseRows = kWindow / kCoarseBin;
constexpr BinGrid kFine{kFineBin, kCrop* kFineBin, kFineRows - 2 * kCrop};
constexpr BinGrid kCoarse{kCoarseBin, 0, kCoarseRows};

std::vector<TrackHead> toy_heads() {
  return {{"fine", 3, kFine, Activation::softplus}, {"coarse", 2, kCoarse, Activation::none}};
}

class TwoResolutions final : public DnaModel {
 public:
  TwoResolutions(const std::string& folder, tensor::Context& context, const LoadOptions& options)
      : DnaModel(context) {
    info_ = {
        "Two resolutions", kWindow, 0, toy_heads(), {{"32bp", 6, kFine}, {"128bp", 5, kCoarse}}};
    if (options.choose_heads)
      heads_ = options.choose_heads(info_.heads);
    else
      for (const TrackHead& head : info_.heads) heads_.push_back({head.name, {}});
    const tensor::Checkpoint checkpoint = tensor::Checkpoint::open(folder);
    tensor::WeightTable table(checkpoint, options.maps);
    letters_ = ConvReader(table, context, 0).letters("letters", kChannels, kTaps);
    for (std::size_t i = 0; i < 2; ++i)
      last_.push_back(table.take_linear(context, "last." + info_.embeddings[i].name,
                                        info_.embeddings[i].width, kChannels));
    for (const HeadChoice& choice : heads_) {
      const bool is_fine = choice.name == "fine";
      const Embedding& read = info_.embeddings[is_fine ? 0 : 1];
      HeadLayer layer{take_head(table, context,
                                {"heads." + choice.name, head(choice).n_tracks, read.width},
                                choice.tracks)};
      if (!is_fine)
        layer.post_process = [](tensor::Context& on, const Tensor& tracks) {
          ops::silu(on, {tracks, tracks});
        };
      layers_.push_back(std::move(layer));
    }
    for (const TrackHead& head : info_.heads)
      for (const char* part : {".weight", ".bias"}) table.ignore("heads." + head.name + part);
    table.finish();
    info_.n_parameters = table.n_taken();
  }
  std::string describe() const override { return "architecture\tTwo resolutions\n"; }

  Outputs run(std::span<const std::uint8_t> letters, const Request& request) override {
    return run_pass([&](Pass& pass) { forward(pass, letters, request); });
  }
  std::size_t measure(std::int64_t n_windows, const Request& request) const override {
    const std::vector<std::uint8_t> letters(static_cast<std::size_t>(n_windows * kWindow));
    return measure_pass([&](Pass& pass) { forward(pass, letters, request); });
  }

 private:
  void forward(Pass& pass, std::span<const std::uint8_t> letters, const Request& request) const {
    tensor::Context& context = pass.context();
    tensor::Arena& arena = pass.arena();
    const std::int64_t n = std::ssize(letters) / kWindow;
    const Tensor codes = pass.upload(DType::u8, {std::ssize(letters)}, letters.data());
    const tensor::Ragged bases = pass.segments(window_starts(n, kWindow));
    const tensor::Ragged fine = pass.segments(window_starts(n, kFineRows));
    const tensor::Ragged coarse = pass.segments(window_starts(n, kCoarseRows));
    const Tensor bins = pass.upload(bin_rows(n, kFineRows, {kCrop, kFine.n_bins}));
    const TrackEnd ends[] = {end(0), end(1)};
    std::vector<TrackInputs> inputs;
    for (const TrackEnd& end : ends) {
      inputs.push_back(upload_track_inputs(pass, end, request, n));
      take_track_outputs(pass, end, request, n);
    }
    pass.run([&] {
      const auto scope = arena.scope();
      const DType operand = context.compute_dtype();
      const Tensor x = arena.take(DType::f32, {bases.n_rows, kChannels});
      const Tensor of_fine = arena.take(DType::f32, {fine.n_rows, kChannels});
      const Tensor cropped = arena.take(operand, {bins.shape[0], kChannels});
      const Tensor of_coarse = arena.take(operand, {coarse.n_rows, kChannels});
      ops::conv1d_letters(context, {codes, letters_.table, letters_.bias, &bases, x, {}});
      ops::max_pool(context, {x, kFineBin, &bases, &fine, of_fine, {}});
      ops::max_pool(context, {of_fine, kCoarseBin / kFineBin, &fine, &coarse, of_coarse, {}});
      ops::gather_rows(context, {of_fine, bins, cropped});
      run_track_end(pass, ends[0], request, cropped, inputs[0]);
      run_track_end(pass, ends[1], request, of_coarse, inputs[1]);
    });
  }
  TrackEnd end(std::size_t i) const {
    return {*this, info_.embeddings[i], last_[i], Activation::gelu_tanh, layers_};
  }

  LetterConv letters_;
  std::vector<tensor::Linear> last_;
  std::vector<HeadLayer> layers_;
};

}  // namespace

const std::vector<ModelDef>& registry() {
  static const std::vector<ModelDef> kModels{
      {"two_resolutions",
       "Two resolutions",
       Reads::dna,
       {"tracks", "embed", "variants", "mutagenesis"},
       [](const std::string& folder, const ModelConfig&, tensor::Context& context,
          const LoadOptions& options) -> std::unique_ptr<Model> {
         return std::make_unique<TwoResolutions>(folder, context, options);
       },
       tensor::Precision::fp32}};
  return kModels;
}

}  // namespace biogpu::models
