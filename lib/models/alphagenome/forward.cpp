// The forward pass of AlphaGenome.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lib/models/alphagenome/alphagenome.hpp"
#include "lib/models/alphagenome/unet.hpp"
#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/gather/gather_rows.hpp"

namespace biogpu::models {

using alphagenome::Batch;
using alphagenome::UnetRows;
using ops::Activation;
using tensor::DType;
using tensor::Tensor;

AlphaGenome::Needs AlphaGenome::needs(const Request& request) const {
  const bool all = request.embedding || request.parts;
  Needs needs{all, all, request.embedding};
  if (has_junctions(request)) needs.fine = true;
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    if (!request.wants(i)) continue;
    const TrackHead& loaded = head(heads_[i]);
    if (!loaded.row_shape.empty())
      needs.contacts = true;
    else if (loaded.bins.bin_size == 1)
      needs.fine = true;
    else
      needs.coarse = true;
  }
  return needs;
}

TrackEnd AlphaGenome::end(bool is_fine, const alphagenome::ReadParts* parts) const {
  return {*this,
          info_.embeddings[is_fine ? 0 : 1],
          is_fine ? weights_.fine_project : weights_.coarse_project,
          Activation::gelu_sigmoid,
          weights_.heads,
          parts == nullptr ? 0 : parts->n_rows * config_.coarse_bin(),
          parts == nullptr ? 0 : std::ssize(parts->parts)};
}

// Where only sums, rows and sites of bases are asked for; none where whole windows are decoded.
std::optional<alphagenome::ReadParts> AlphaGenome::read_parts(const Request& request,
                                                              std::int64_t n_windows) const {
  if (request.tracks || request.embedding || request.parts) return {};
  if (has_junctions(request) && request.site_bases.empty()) return {};
  const TrackEnd fine = end(true);
  alphagenome::ReadBases read;
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    if (!fine.has(i)) continue;
    if (request.wants_sums(i)) read.sums.push_back(request.sums[i]);
    if (request.wants_rows(i)) read.rows.push_back(request.rows[i]);
  }
  if (has_junctions(request)) read.rows.push_back(request.site_bases);
  if (read.sums.empty() && read.rows.empty()) return {};
  return alphagenome::find_read_parts(read, n_windows, info_.window / config_.coarse_bin(),
                                      config_.n_down_blocks + 1);
}

// Parts of windows that are decoded, on the device.
struct AlphaGenome::DecodedParts {
  UnetRows rows;
  Tensor positions;  // i32, the coarse rows of the parts among those of windows
};

AlphaGenome::DecodedParts AlphaGenome::upload_parts(Pass& pass, const alphagenome::ReadParts& parts,
                                                    std::span<const std::uint8_t> letters) const {
  const std::int64_t bin = config_.coarse_bin(), n_positions = info_.window / bin;
  std::vector<std::uint8_t> of_parts;
  std::vector<std::int32_t> positions;
  for (const alphagenome::ReadParts::Part& part : parts.parts) {
    const std::int64_t first = static_cast<std::int64_t>(part.window) * n_positions + part.begin;
    const auto of_part = letters.subspan(static_cast<std::size_t>(first * bin),
                                         static_cast<std::size_t>(parts.n_rows * bin));
    of_parts.insert(of_parts.end(), of_part.begin(), of_part.end());
    for (std::int64_t i = 0; i < parts.n_rows; ++i)
      positions.push_back(static_cast<std::int32_t>(first + i));
  }
  return {alphagenome::make_unet_rows(pass, config_, of_parts, parts.n_rows * bin),
          pass.upload(positions)};
}

void AlphaGenome::keep(Pass& pass, const Tensor& x, std::span<const KeptStore::Slot> slots) const {
  const std::int64_t n = info_.window / config_.coarse_bin();
  for (std::size_t w = 0; w < slots.size(); ++w) {
    const std::int64_t first = static_cast<std::int64_t>(w) * n;
    ops::gather_rows(pass.context(),
                     {x.slice(0, first, first + n), {}, kept_store_.rows(0, *slots[w])});
  }
}

void AlphaGenome::forward(Pass& pass, const Task& task, const Request& request) const {
  const std::int64_t n_windows = std::ssize(task.letters) / info_.window;
  Needs need = needs(request);
  need.fine = need.fine || !task.kept.fine.empty();
  need.coarse = need.coarse || !task.kept.coarse.empty();
  need.contacts = need.contacts || !task.kept.pairs.empty();
  const std::optional<alphagenome::ReadParts> parts =
      need.fine ? read_parts(request, n_windows) : std::nullopt;
  // Bins of parts are counted from the first base of the part.
  Request of_parts = request;
  std::vector<std::vector<BinSum>> shifted(request.sums.size());
  std::vector<std::vector<BinRows>> shifted_rows(request.rows.size());
  const std::int64_t n_part_bases = parts ? parts->n_rows * config_.coarse_bin() : 0;
  const TrackEnd fine = end(true, parts ? &*parts : nullptr);
  for (std::size_t i = 0; parts && i < heads_.size(); ++i) {
    if (fine.has(i) && request.wants_sums(i)) {
      shifted[i] = parts->shifted(request.sums[i]);
      of_parts.sums[i] = shifted[i];
    }
    if (fine.has(i) && request.wants_rows(i)) {
      shifted_rows[i] = parts->shifted(request.rows[i]);
      of_parts.rows[i] = shifted_rows[i];
    }
  }
  const TrackEnd coarse = end(false);
  const TrackInputs fine_inputs = upload_track_inputs(pass, fine, of_parts, n_windows);
  const TrackInputs coarse_inputs = upload_track_inputs(pass, coarse, request, n_windows);
  const UnetRows encoded =
      task.changed == nullptr
          ? alphagenome::make_unet_rows(pass, config_, task.letters, info_.window)
          : alphagenome::make_unet_rows(pass, config_, task.changed->letters(),
                                        task.changed->n_rows() * config_.coarse_bin());
  std::optional<PartRows> join;
  if (task.changed != nullptr) join.emplace(pass, *task.changed, kept_store_, 0, 1);
  std::optional<DecodedParts> decoded_parts;
  if (parts) decoded_parts = upload_parts(pass, *parts, task.letters);
  const Batch batch = alphagenome::make_batch(pass, config_, n_windows, info_.window);
  for (const KeptStore::Slot& slot : task.slots) pass.depends_on(*slot + 1);
  if (!task.slots.empty())
    pass.depends_on(reinterpret_cast<std::uintptr_t>(kept_store_.rows(0).data));
  take_track_outputs(pass, fine, of_parts, n_windows);
  take_track_outputs(pass, coarse, request, n_windows);
  const std::int64_t n_rows = n_windows * batch.n_positions, n_pairs = batch.n_pairs;
  const std::int64_t n_bases = n_windows * batch.n_bases, width = config_.width();
  const Embedding& of_pairs = info_.embeddings[2];
  if (request.embedding)
    pass.output(of_pairs.output(), {n_windows * n_pairs * n_pairs, of_pairs.width});
  for (const Tensor& kept : {task.kept.fine, task.kept.coarse, task.kept.pairs})
    pass.depends_on(reinterpret_cast<std::uintptr_t>(kept.data));
  Tensor site_probabilities;
  if (has_junctions(request))
    site_probabilities = pass.output(
        alphagenome::kSiteProbabilities,
        {n_windows * (parts ? n_part_bases : batch.n_bases), alphagenome::kSpliceClasses});
  const Tensor contacts = need.contacts ? upload_contacts(pass, n_windows, request) : Tensor();
  if (request.parts) {
    pass.output("trunk", {n_rows, width});
    pass.output("tower", {n_rows, width});
    pass.output("pair", {n_windows * n_pairs * n_pairs, config_.pair_channels});
    pass.output("decoded", {n_bases, config_.n_channels});
  }
  pass.run([&] {
    tensor::Context& context = pass.context();
    tensor::Arena& arena = pass.arena();
    const auto scope = arena.scope();
    const auto keep_part = [&](const char* name, const Tensor& x) {
      const Tensor part = pass.find(name);
      if (!part.empty()) ops::map(context, ops::map_copy(x, part));
    };
    const Tensor x = arena.take(DType::f32, {n_rows, width});
    const Tensor pair =
        arena.take(DType::f32, {n_windows, n_pairs, n_pairs, config_.pair_channels});
    alphagenome::Skips skips;
    if (join) {
      const auto of_changed = arena.scope();
      const Tensor changed = arena.take(DType::f32, {encoded.coarse().n_rows, width});
      alphagenome::encode(pass, config_, weights_, encoded, changed, nullptr);
      join->join(pass, changed, x);
    } else {
      alphagenome::encode(pass, config_, weights_, encoded, x,
                          need.fine && !parts ? &skips : nullptr);
    }
    keep_part("trunk", x);
    keep(pass, x, task.slots);
    if (!weights_.organism.empty()) ops::map(context, ops::map_add(x, weights_.organism, x));
    alphagenome::run_tower(pass, config_, weights_, batch, pair_gelu_, x, pair);
    keep_part("tower", x);
    const Tensor pairs(pair.data, pair.dtype,
                       {n_windows * n_pairs * n_pairs, config_.pair_channels});
    keep_part("pair", pairs);
    if (need.contacts) {
      const auto of_contacts = arena.scope();
      contact_maps(pass, pair_embedding(pass, pair, task.kept.pairs), contacts);
    }
    if (!need.fine && !need.coarse) return;
    const Tensor of_coarse = coarse_embedding(pass, x, task.kept.coarse);
    run_heads(pass, coarse, request, of_coarse, coarse_inputs);
    if (!need.fine) return;
    if (parts) {
      const Tensor of_fine = part_embedding(pass, *decoded_parts, x, of_coarse);
      run_heads(pass, fine, of_parts, of_fine, fine_inputs);
      if (site_probabilities.empty()) return;
      for (std::int64_t w = 0; w < n_windows; ++w) {
        const std::int64_t part = w * n_part_bases, window = w * batch.n_bases;
        ops::gather_rows(context, {of_fine.slice(0, part, part + n_part_bases),
                                   {},
                                   task.kept.fine.slice(0, window, window + n_part_bases)});
      }
      weights_.junctions->sites.compute(pass, of_fine.slice(0, 0, n_windows * n_part_bases),
                                        site_probabilities);
      return;
    }
    const Tensor decoded = arena.take(context.compute_dtype(), {n_bases, config_.n_channels});
    alphagenome::decode(pass, config_, weights_, encoded, x, skips, decoded);
    keep_part("decoded", decoded);
    const Tensor of_fine = fine_embedding(pass, encoded, decoded, of_coarse, task.kept.fine);
    run_heads(pass, fine, request, of_fine, fine_inputs);
    if (!site_probabilities.empty())
      weights_.junctions->sites.compute(pass, of_fine, site_probabilities);
  });
}

// The embedding of bases of parts. x: the tower's result, of_coarse: the embedding of its rows.
Tensor AlphaGenome::part_embedding(Pass& pass, const DecodedParts& parts, const Tensor& x,
                                   const Tensor& of_coarse) const {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  const std::int64_t n_rows = parts.rows.coarse().n_rows, n_bases = parts.rows.bases().n_rows;
  const Tensor of_x = arena.take(DType::f32, {n_rows, x.shape[1]});
  const Tensor coarse = arena.take(of_coarse.dtype, {n_rows, of_coarse.shape[1]});
  const Tensor decoded = arena.take(context.compute_dtype(), {n_bases, config_.n_channels});
  ops::gather_rows(context, {of_coarse, parts.positions, coarse});
  alphagenome::Skips skips;
  alphagenome::encode(pass, config_, weights_, parts.rows, of_x, &skips);  // for the skips
  ops::gather_rows(context, {x, parts.positions, of_x});
  alphagenome::decode(pass, config_, weights_, parts.rows, of_x, skips, decoded);
  return fine_embedding(pass, parts.rows, decoded, coarse, {});
}

}  // namespace biogpu::models
