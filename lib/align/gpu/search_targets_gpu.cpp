// How a search's targets lie on the device: sorted by length, in batches as wide as a thread block,
// each target padded to the longest of its batch.
#include "lib/align/gpu/search_targets_gpu.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>

namespace biogpu::align {
namespace {

namespace kernels = biogpu::gpu::align;

constexpr std::size_t kBatch = kernels::kSearchTargets;
// Letters are laid out and copied in pieces of at least this many bytes.
constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 25;

// The first of `order`, as many as fit.
TargetPart lay_out_part(const SequenceSet& targets, std::span<const std::uint32_t> order,
                        std::uint64_t max_bytes) {
  TargetPart part;
  std::uint64_t letters = kernels::kSearchPadding;
  std::size_t n = 0;
  for (; n < order.size(); n += kBatch) {
    kernels::SearchTargets batch;
    batch.begin = letters;
    batch.n_columns = static_cast<std::int32_t>(targets.length(order[n]));
    batch.stride = (batch.n_columns + kernels::kSearchPadding + 3) / 4 * 4;
    const std::uint64_t bytes = static_cast<std::uint64_t>(batch.stride) * kBatch;
    if (n > 0 && letters + bytes > max_bytes) break;
    letters += bytes;
    part.device.batches.push_back(batch);
  }
  n = std::min(n, order.size());
  part.device.n_letters = letters;
  part.device.n_targets = static_cast<std::uint32_t>(n);
  part.global.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n));
  std::sort(part.global.begin(), part.global.end());
  part.device.numbers.assign(part.device.batches.size() * kBatch, ~0u);
  for (std::size_t i = 0; i < n; ++i) {
    const auto found = std::lower_bound(part.global.begin(), part.global.end(), order[i]);
    part.device.numbers[i] = static_cast<std::uint32_t>(found - part.global.begin());
  }
  return part;
}

}  // namespace

std::vector<TargetPart> lay_out_targets(const SequenceSet& targets,
                                        std::span<const std::uint32_t> order,
                                        std::uint64_t max_bytes) {
  std::vector<TargetPart> parts;
  while (!order.empty()) {
    parts.push_back(lay_out_part(targets, order, max_bytes));
    order = order.subspan(parts.back().global.size());
  }
  return parts;
}

void copy_targets(const SequenceSet& targets, const TargetPart& part, int n_classes,
                  kernels::SearchBatch& batch) {
  batch.begin_part(part.device);
  const auto& batches = part.device.batches;
  const auto padding = static_cast<std::uint8_t>(n_classes);
  std::vector<std::uint8_t> piece;
  std::uint64_t begin = 0;  // of the piece on the device
  for (std::size_t first = 0; first < batches.size();) {
    std::size_t last = first;
    std::uint64_t bytes = begin == 0 ? kernels::kSearchPadding : 0;
    for (; last < batches.size() && bytes < kPieceBytes; ++last)
      bytes += static_cast<std::uint64_t>(batches[last].stride) * kBatch;
    piece.assign(bytes, padding);
    tbb::parallel_for(first, last, [&](std::size_t b) {
      for (std::size_t t = 0; t < kBatch; ++t) {
        const std::uint32_t number = part.device.numbers[b * kBatch + t];
        if (number == ~0u) continue;
        const auto from = targets.sequence(part.global[number]);
        const std::uint64_t to = batches[b].begin - begin + t * batches[b].stride;
        std::copy(from.begin(), from.end(), piece.begin() + static_cast<std::ptrdiff_t>(to));
      }
    });
    batch.write_letters(begin, piece);
    begin += bytes;
    first = last;
  }
}

}  // namespace biogpu::align
