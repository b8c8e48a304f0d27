// Windows that differ from kept ones in some letters.
#include <utility>

#include "lib/models/borzoi/batch.hpp"
#include "lib/models/borzoi/borzoi.hpp"
#include "lib/models/layers/changed_parts.hpp"
#include "lib/ops/gather/gather_rows.hpp"

namespace biogpu::models {

using tensor::DType;
using tensor::Tensor;

bool Borzoi::is_near(std::span<const std::uint8_t> kept,
                     std::span<const std::uint8_t> changed) const {
  return is_near_for(reach_, kept, changed);
}

Outputs Borzoi::run_changed(std::span<const ChangedWindow> windows, const Request& request) {
  const ChangedParts parts(reach_, windows);
  return run_pass([&](Pass& pass) { forward_changed(pass, parts, request); });
}

// The tower runs over parts alone; the transformer and the U-Net read their rows and those that are
// kept.
void Borzoi::forward_changed(Pass& pass, const ChangedParts& parts, const Request& request) const {
  const Batch batch = make_batch(pass, parts.letters(), parts.n_rows() * reach_.bin_size(),
                                 parts.n_windows(), request);
  const PartRows positions(pass, parts, borzoi::kKeptPositions, 1, config_.width);
  std::vector<PartRows> across;
  for (std::size_t i = 0; i < weights_.ups.size(); ++i)
    across.emplace_back(pass, parts, borzoi::kKeptSkips.at(i),
                        std::int64_t{1} << (weights_.ups.size() - i),
                        config_.channels[skip_level(i)]);
  Request wanted = request;
  wanted.parts = false;
  take_outputs(pass, batch, wanted);
  const auto join = [&](const PartRows& rows, Lease part, DType dtype) {
    ops::gather_rows(pass.context(), {*part, {}, rows.of_parts()});
    const std::int64_t width = part->shape[1];
    part = {};
    Lease whole = pass.arena().lease(dtype, {rows.n_rows(), width});
    rows.join(pass, *whole);
    return whole;
  };
  pass.run([&] {
    const auto scope = pass.arena().scope();
    Skips skips;
    Lease x = tower(pass, batch, skips);
    x = join(positions, std::move(x), DType::f32);
    for (std::size_t i = 0; i < across.size(); ++i)
      skips.activated[i] =
          join(across[i], std::move(skips.activated[i]), pass.context().compute_dtype());
    keep(pass, skips, *x);
    finish(pass, batch, request, skips, std::move(x));
  });
}

}  // namespace biogpu::models
