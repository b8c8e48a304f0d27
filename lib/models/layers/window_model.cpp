#include "lib/models/layers/window_model.hpp"

#include <fmt/format.h>

#include <utility>

#include "lib/models/layers/window_rows.hpp"
#include "lib/ops/gather/gather_rows.hpp"
#include "lib/tensor/shortened_starts.hpp"

namespace biogpu::models {

using tensor::DType;
using tensor::Tensor;

namespace {

TowerReach make_reach(const WindowShape& shape) {
  std::vector<std::int64_t> taps(shape.n_levels(), kTowerTaps);
  taps[0] = kLetterTaps;
  return {std::move(taps), shape.window};
}

std::vector<KeptStore::Array> kept_arrays(const WindowShape& shape, DType operand) {
  std::vector<KeptStore::Array> arrays;
  for (const WindowShape::TowerRows& rows : shape.read)
    arrays.push_back({arrays.empty() ? DType::f32 : operand, shape.n_rows(rows.level), rows.width});
  return arrays;
}

}  // namespace

std::int64_t WindowShape::n_rows(std::size_t level) const {
  std::int64_t n = window;
  for (std::size_t i = 0; i < level; ++i) n = (n + (pools_single_rows ? 1 : 0)) / kPool;
  return n;
}

WindowModel::WindowModel(tensor::Context& context, WindowShape shape, std::vector<HeadChoice> heads)
    : DnaModel(context, kept_arrays(shape, context.compute_dtype())),
      shape_(std::move(shape)),
      reach_(make_reach(shape_)) {
  heads_ = std::move(heads);
  if (heads_.empty())
    for (const TrackHead& head : shape_.heads) heads_.push_back({head.name, {}});
  info_.architecture = shape_.architecture;
  info_.window = shape_.window;
  info_.heads = shape_.heads;
  for (TrackHead& head : info_.heads) head.bins = shape_.grid();
  info_.embeddings = {{"", shape_.embedding_width, shape_.grid()}};
}

std::string WindowModel::describe() const {
  std::string text;
  const auto line = [&](const std::string& key, const auto& value) {
    text += fmt::format("{}\t{}\n", key, value);
  };
  const BinGrid bins = shape_.grid();
  line("architecture", shape_.architecture);
  line("blocks", shape_.n_blocks);
  line("width", shape_.width);
  line("heads", shape_.n_heads);
  line("parameters", info_.n_parameters);
  line("window", fmt::format("{} bases", shape_.window));
  line("bins", fmt::format("{} of {} bases, from base {} of the window on", bins.n_bins,
                           bins.bin_size, bins.first_base));
  for (const TrackHead& head : shape_.heads) line("tracks_" + head.name, head.n_tracks);
  return text;
}

Outputs WindowModel::run(std::span<const std::uint8_t> letters, const Request& request) {
  const auto length = static_cast<std::size_t>(shape_.window);
  std::vector<KeptStore::Slot> slots;
  if (request.kept != nullptr) slots = kept_store_.take(letters.size() / length);
  Outputs outputs = run_pass([&](Pass& pass) { forward(pass, letters, nullptr, request, slots); });
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto of_window = letters.subspan(i * length, length);
    request.kept->push_back({{of_window.begin(), of_window.end()}, std::move(slots[i])});
  }
  return outputs;
}

bool WindowModel::is_near(std::span<const std::uint8_t> kept,
                          std::span<const std::uint8_t> changed) const {
  return is_near_for(reach_, kept, changed);
}

Outputs WindowModel::run_changed(std::span<const ChangedWindow> windows, const Request& request) {
  const ChangedParts parts(reach_, windows);
  std::vector<KeptStore::Slot> slots;
  if (request.kept != nullptr) slots = kept_store_.take(windows.size());
  Request wanted = request;
  wanted.parts = false;
  Outputs outputs =
      run_pass([&](Pass& pass) { forward(pass, parts.letters(), &parts, wanted, slots); });
  for (std::size_t i = 0; i < slots.size(); ++i)
    request.kept->push_back(
        {{windows[i].letters.begin(), windows[i].letters.end()}, std::move(slots[i])});
  return outputs;
}

std::size_t WindowModel::measure(std::int64_t n_windows, const Request& request) const {
  const std::vector<std::uint8_t> letters(static_cast<std::size_t>(n_windows * shape_.window));
  return measure_pass([&](Pass& pass) { forward(pass, letters, nullptr, request, {}); });
}

// Pieces of n_letters, of windows or of as many parts of them.
WindowModel::Batch WindowModel::make_batch(Pass& pass, std::span<const std::uint8_t> letters,
                                           std::int64_t n_letters, std::int64_t n_windows,
                                           const Request& request) const {
  Batch batch;
  batch.letters = pass.upload(DType::u8, {std::ssize(letters)}, letters.data());
  std::vector<std::int32_t> starts = window_starts(n_windows, n_letters);
  for (std::size_t level = 0; level <= shape_.n_levels(); ++level) {
    batch.levels.push_back(pass.segments(starts));
    starts = shape_.pools_single_rows ? tensor::shortened_starts(starts, kPool)
                                      : tensor::whole_window_starts(starts, kPool);
  }
  // The transformer's level comes last: a device keeps the plan of attention of one.
  for (std::size_t level = shape_.result_level; level < batch.levels.size(); ++level)
    batch.whole.push_back(n_letters == shape_.window
                              ? batch.levels[level]
                              : pass.segments(window_starts(n_windows, shape_.n_rows(level))));
  batch.bins = pass.upload(bin_rows(n_windows, shape_.n_rows(shape_.result_level), shape_.bins));
  batch.end = upload_track_inputs(pass, end(), request, n_windows);
  return batch;
}

void WindowModel::forward(Pass& pass, std::span<const std::uint8_t> letters,
                          const ChangedParts* parts, const Request& request,
                          std::span<const KeptStore::Slot> slots) const {
  const std::int64_t n_letters =
      parts == nullptr ? shape_.window : parts->n_rows() * reach_.bin_size();
  const std::int64_t n_windows = std::ssize(letters) / n_letters;
  const Batch batch = make_batch(pass, letters, n_letters, n_windows, request);
  std::vector<PartRows> joins;
  if (parts != nullptr)
    for (std::size_t i = 0; i < shape_.read.size(); ++i)
      joins.emplace_back(pass, *parts, kept_store_, i,
                         std::int64_t{1} << (shape_.n_levels() - shape_.read[i].level));
  for (const KeptStore::Slot& slot : slots) pass.depends_on(*slot + 1);
  if (!slots.empty()) pass.depends_on(reinterpret_cast<std::uintptr_t>(kept_store_.rows(0).data));
  take_track_outputs(pass, end(), request, n_windows);
  if (request.parts) {
    take_parts(pass, batch);
    for (std::int64_t i = 0; i < shape_.n_blocks; ++i)
      pass.output(fmt::format("block.{}", i), {batch.positions().n_rows, shape_.width});
  }
  pass.run([&] {
    const auto scope = pass.arena().scope();
    std::vector<Lease> rows = tower(pass, batch);
    for (std::size_t i = 0; i < joins.size(); ++i) {
      Lease whole = pass.arena().lease(rows[i]->dtype, {joins[i].n_rows(), rows[i]->shape[1]});
      joins[i].join(pass, *rows[i], *whole);
      rows[i] = std::move(whole);
    }
    keep(pass, rows, slots);
    const Lease bins = to_bins(pass, batch, std::move(rows));
    run_track_end(pass, end(), request, *bins, batch.end);
  });
}

void WindowModel::keep(Pass& pass, const std::vector<Lease>& rows,
                       std::span<const KeptStore::Slot> slots) const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t n = kept_store_.arrays()[i].n_rows;
    for (std::size_t w = 0; w < slots.size(); ++w) {
      const std::int64_t first = static_cast<std::int64_t>(w) * n;
      ops::gather_rows(pass.context(),
                       {rows[i]->slice(0, first, first + n), {}, kept_store_.rows(i, *slots[w])});
    }
  }
}

void WindowModel::run_blocks(Pass& pass, const Batch& batch, const DnaTransformerShape& transformer,
                             std::span<const DnaTransformerBlock> blocks, const Tensor& x,
                             const Tensor& h, const ops::Activated& next) const {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const bool last = i + 1 == blocks.size();
    run_dna_transformer_block(pass, transformer, blocks[i], batch.positions(), x, h,
                              last ? next : ops::Activated{});
    const Tensor part = pass.find(fmt::format("block.{}", i));
    if (!part.empty()) ops::gather_rows(pass.context(), {x, {}, part});
  }
}

}  // namespace biogpu::models
