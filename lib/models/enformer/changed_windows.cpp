// Windows that differ from kept ones in some letters.
#include "lib/models/enformer/batch.hpp"
#include "lib/models/enformer/enformer.hpp"
#include "lib/models/layers/changed_parts.hpp"

namespace biogpu::models {

using tensor::DType;
using tensor::Tensor;

bool Enformer::is_near(std::span<const std::uint8_t> kept,
                       std::span<const std::uint8_t> changed) const {
  return is_near_for(reach_, kept, changed);
}

Outputs Enformer::run_changed(std::span<const ChangedWindow> windows, const Request& request) {
  const ChangedParts parts(reach_, windows);
  return run_pass([&](Pass& pass) { forward_changed(pass, parts, request); });
}

// The tower runs over parts alone; the transformer reads their rows and those that are kept.
void Enformer::forward_changed(Pass& pass, const ChangedParts& parts,
                               const Request& request) const {
  const Batch batch = make_batch(pass, parts.letters(), parts.n_rows() * reach_.bin_size(),
                                 parts.n_windows(), request);
  const PartRows positions(pass, parts, enformer::kKeptPositions, 1, config_.width);
  Request wanted = request;
  wanted.parts = false;
  take_outputs(pass, batch, wanted);
  pass.run([&] {
    const auto scope = pass.arena().scope();
    const Tensor x = pass.arena().take(DType::f32, {batch.positions.n_rows, config_.width});
    tower(pass, batch, positions.of_parts());
    positions.join(pass, x);
    finish(pass, batch, request, transformer(pass, batch, x));
  });
}

}  // namespace biogpu::models
