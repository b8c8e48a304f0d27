#include "lib/models/molscribe/molscribe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/normalisation/softmax.hpp"
#include "lib/tensor/views.hpp"
#include "lib/tensor/weights/safetensors.hpp"

namespace biogpu::models {
namespace {

using molscribe::DecodeRows;
using molscribe::MoleculeGraph;
using molscribe::PreparedImage;
using ops::Activation;
using tensor::DType;
using tensor::Tensor;

constexpr char kEncoded[] = "encoded", kBonds[] = "bonds";

}  // namespace

MolScribe::Sizes MolScribe::sizes_of(const tensor::Context& context) {
  return context.kind() == tensor::Context::Kind::gpu ? Sizes{16, 64, 16} : Sizes{1, 16, 1};
}

MolScribe::MolScribe(const std::string& folder, const ModelConfig& config, tensor::Context& context,
                     const LoadOptions& options)
    : Model(context),
      config_(molscribe::read_config(config)),
      vocabulary_(folder + "/" + config_.vocab_file, config_.coord_bins),
      sizes_(sizes_of(context)) {
  const tensor::Checkpoint checkpoint = tensor::Checkpoint::open(folder);
  tensor::WeightTable table(checkpoint, options.maps);
  table.sum_in_parts();
  encoder_ = std::make_unique<molscribe::SwinEncoder>(config_, table, context, sizes_.encoded);
  decoder_ = std::make_unique<molscribe::TokenDecoder>(config_, vocabulary_, table, context);
  read_bonds("decoder.decoder.edges.mlp.", table);
  n_parameters_ = table.n_taken();
  table.finish();
}

// W [h_i; h_j] = W_a h_i + W_b h_j: both parts as one product of n rows instead of n * n.
void MolScribe::read_bonds(const std::string& name, tensor::WeightTable& table) {
  const std::int64_t d = config_.decoder_width;
  const tensor::HostTensor weight = table.take(name + "0.weight", {d, 2 * d});
  const tensor::HostTensor bias = table.take(name + "0.bias", {d});
  pair_out_ = table.take_linear(context_, name + "2", molscribe::kBondKinds, d);
  if (table.maps() != tensor::WeightTable::Maps::read || !weight.found || !bias.found) return;
  std::vector<float> parts(static_cast<std::size_t>(2 * d * d)),
      shift(static_cast<std::size_t>(2 * d));
  for (std::int64_t o = 0; o < d; ++o)
    for (std::int64_t half = 0; half < 2; ++half)
      std::copy_n(weight.values.data() + (2 * o + half) * d, d, parts.begin() + (half * d + o) * d);
  std::copy_n(bias.values.data(), d, shift.begin());
  pair_parts_ = context_.upload_linear(Tensor(parts.data(), DType::f32, {2 * d, d}),
                                       Tensor(shift.data(), DType::f32, {2 * d}));
  pair_parts_.sum_in_parts = true;
}

std::string MolScribe::describe() const {
  std::string text;
  const auto line = [&](const char* key, const auto& value) {
    text += fmt::format("{}\t{}\n", key, value);
  };
  line("architecture", "MolScribe");
  line("parameters", n_parameters_);
  line("input_size", config_.input_size);
  line("encoder",
       fmt::format("Swin, {} channels, blocks {}, heads {}, windows of {}", config_.embed_dim,
                   fmt::join(config_.depths, " "), fmt::join(config_.heads, " "), config_.window));
  line("decoder", fmt::format("{} layers, {} channels, {} heads", config_.decoder_layers,
                              config_.decoder_width, config_.decoder_heads));
  line("tokens", fmt::format("{} symbols, {} bins of each axis", vocabulary_.n_symbols(),
                             vocabulary_.n_bins()));
  line("longest_sequence", config_.max_length);
  return text;
}

// memory: the first rows of memory_, or empty.
void MolScribe::forward(Pass& pass, std::span<const PreparedImage> images,
                        const Tensor& memory) const {
  const std::int64_t n = std::ssize(images), n_pixels = config_.input_size * config_.input_size;
  std::vector<float> numbers;
  numbers.reserve(static_cast<std::size_t>(n * n_pixels));
  for (const PreparedImage& image : images)
    numbers.insert(numbers.end(), image.gray.begin(), image.gray.end());
  const Tensor pixels = pass.upload(DType::f32, {n * n_pixels, 1}, numbers.data());
  pass.depends_on(reinterpret_cast<std::uintptr_t>(memory.data));
  const std::int64_t n_rows = n * config_.n_memory(), c = config_.encoder_width();
  const Tensor wanted = memory.empty() ? pass.output(kEncoded, {n_rows, c}) : Tensor();
  pass.run([&] {
    const auto scope = pass.arena().scope();
    const Tensor encoded = pass.arena().take(pass.context().compute_dtype(), {n_rows, c});
    encoder_->run(pass.context(), pass.arena(), pixels, n, encoded);
    if (!wanted.empty()) ops::map(pass.context(), ops::map_copy(encoded, wanted));
    if (!memory.empty()) decoder_->make_memory(pass.context(), pass.arena(), encoded, memory);
  });
}

std::vector<float> MolScribe::encode(std::span<const PreparedImage> images) {
  std::vector<float> all;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const Outputs outputs = run_pass([&](Pass& pass) { forward(pass, images.subspan(i, 1), {}); });
    const io::SharedArray& values = outputs.at(kEncoded).values;
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

void MolScribe::encode_memory(std::span<const PreparedImage> images) {
  const std::int64_t n_rows = std::ssize(images) * config_.n_memory();
  run_pass([&](Pass& pass) { forward(pass, images, memory_.slice(0, 0, n_rows)); });
}

std::int64_t MolScribe::n_rows_for(std::int64_t n_images) const {
  const auto n = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n_images)));
  return std::clamp<std::int64_t>(n, 1, sizes_.rows);
}

void MolScribe::require_rows(std::int64_t n_images) {
  if (memory_.empty()) {
    memory_ = Tensor(nullptr, context_.compute_dtype(),
                     {sizes_.encoded * config_.n_memory(), decoder_->memory_width()});
    memory_.data = context_.allocate(memory_.bytes());
  }
  const std::int64_t n_rows = n_rows_for(n_images);
  if (rows_ != nullptr && rows_->n_rows() == n_rows) return;
  rows_.reset();
  rows_ = std::make_unique<DecodeRows>(context_, *decoder_, config_, vocabulary_, n_rows);
}

std::size_t MolScribe::measure(std::int64_t n_images) const {
  const std::int64_t n_pixels = config_.input_size * config_.input_size;
  PreparedImage blank;
  blank.gray.resize(static_cast<std::size_t>(n_pixels));
  const std::vector<PreparedImage> images(
      static_cast<std::size_t>(std::min(n_images, sizes_.encoded)), blank);
  return DecodeRows::bytes(*decoder_, config_, n_rows_for(n_images), context_.precision()) +
         measure_pass([&](Pass& pass) { forward(pass, images, {}); });
}

std::vector<MoleculeGraph> MolScribe::recognize(std::span<const PreparedImage> images) {
  std::vector<MoleculeGraph> graphs(images.size());
  sequences_.assign(images.size(), {});
  if (images.empty()) return graphs;
  require_rows(std::ssize(images));
  constexpr std::size_t kFree = SIZE_MAX;
  std::vector<std::size_t> image_of(static_cast<std::size_t>(rows_->n_rows()), kFree);
  std::size_t n_encoded = 0, n_started = 0, first_encoded = 0, n_done = 0;
  while (n_done < images.size()) {
    for (std::size_t row = 0; row < image_of.size() && n_started < images.size(); ++row) {
      if (image_of[row] != kFree) continue;
      if (n_started == n_encoded) {
        first_encoded = n_encoded;
        n_encoded = std::min(images.size(), n_encoded + static_cast<std::size_t>(sizes_.encoded));
        encode_memory(images.subspan(first_encoded, n_encoded - first_encoded));
      }
      const auto at = static_cast<std::int64_t>(n_started - first_encoded) * config_.n_memory();
      rows_->start(static_cast<std::int64_t>(row), memory_.slice(0, at, at + config_.n_memory()));
      image_of[row] = n_started++;
    }
    // Nobody waits for a row: one look at the end of all.
    const bool runs_to_end = decoder_->is_fused() && n_started == images.size();
    rows_->step(runs_to_end ? rows_->capacity() : sizes_.steps);
    rows_->fetch();
    for (std::size_t row = 0; row < image_of.size(); ++row) {
      const std::size_t image = image_of[row];
      if (image == kFree || !rows_->is_at_end(static_cast<std::int64_t>(row))) continue;
      sequences_[image] = rows_->sequence(static_cast<std::int64_t>(row));
      graphs[image] = finish(static_cast<std::int64_t>(row), sequences_[image]);
      image_of[row] = kFree;
      ++n_done;
    }
  }
  return graphs;
}

MoleculeGraph MolScribe::finish(std::int64_t row, DecodeRows::Sequence sequence) {
  MoleculeGraph graph =
      molscribe::read_tokens(vocabulary_, sequence.tokens, sequence.log_probabilities);
  graph.is_cut = sequence.tokens.back() != molscribe::Vocabulary::kStop;
  graph.least_margin = *std::min_element(sequence.margins.begin(), sequence.margins.end());
  if (graph.atoms.empty()) return graph;
  std::vector<std::int32_t> rows;
  for (const molscribe::GraphAtom& atom : graph.atoms)
    rows.push_back(static_cast<std::int32_t>(row * rows_->capacity() + atom.state));
  const Outputs outputs = run_pass([&](Pass& pass) { pair_forward(pass, rows, rows_->states()); });
  const io::SharedArray& values = outputs.at(kBonds).values;
  molscribe::set_bonds({values.begin(), values.end()}, graph);
  return graph;
}

// Probabilities of each kind of bond for all pairs of n atoms.
void MolScribe::pair_forward(Pass& pass, const std::vector<std::int32_t>& rows,
                             const Tensor& states) const {
  const std::int64_t n = std::ssize(rows), d = config_.decoder_width;
  const Tensor places = pass.upload(rows);
  pass.depends_on(reinterpret_cast<std::uintptr_t>(states.data));
  const Tensor bonds = pass.output(kBonds, {n * n, molscribe::kBondKinds});
  pass.run([&] {
    tensor::Context& context = pass.context();
    tensor::Arena& arena = pass.arena();
    const auto scope = arena.scope();
    const Tensor h = arena.take(context.compute_dtype(), {n, d});
    const Tensor parts = arena.take(DType::f32, {n, 2 * d});
    const Tensor pairs = arena.take(context.compute_dtype(), {n, n, d});
    ops::gather_rows(context, {states, places, h});
    ops::gemm(context, {h, &pair_parts_, Activation::none, {}, parts});
    ops::map(context, ops::make_map({tensor::repeated(parts.slice(1, 0, d), 1),
                                     tensor::repeated(parts.slice(1, d, 2 * d), 0)},
                                    {{ops::MapCode::add, 1}, {ops::MapCode::gelu_erf}}, pairs));
    ops::gemm(
        context,
        {Tensor(pairs.data, pairs.dtype, {n * n, d}), &pair_out_, Activation::none, {}, bonds});
    ops::Softmax softmax;
    softmax.x = bonds;
    softmax.axis = 1;
    softmax.out = bonds;
    ops::softmax(context, softmax);
  });
}

ModelDef molscribe_model() {
  return {"molscribe",
          "MolScribe",
          Reads::images,
          {"recognize"},
          [](const std::string& folder, const ModelConfig& config, tensor::Context& context,
             const LoadOptions& options) -> std::unique_ptr<Model> {
            return std::make_unique<MolScribe>(folder, config, context, options);
          },
          tensor::Precision::fp32};  // 16 bits exchange neighbouring bins: docs/models/molscribe.md
}

}  // namespace biogpu::models
