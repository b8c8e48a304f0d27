#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/align/search/search_batch.hpp"
#include "lib/align/align.hpp"

namespace biogpu::align {

// A part of a target set as a search lays it out; `global` turns its numbers into indices of the
// set and ascends.
struct TargetPart {
  gpu::align::SearchPart device;
  std::vector<std::uint32_t> global;
};

// order: indices of targets, the longest first. Each part has at most max_bytes of letters, or one
// batch of targets where that takes more.
std::vector<TargetPart> lay_out_targets(const SequenceSet& targets,
                                        std::span<const std::uint32_t> order,
                                        std::uint64_t max_bytes);

// Makes the part the one that `batch` searches: its letters, padded with the class n_classes. On
// all threads of the calling task arena. Throws DeviceError.
void copy_targets(const SequenceSet& targets, const TargetPart& part, int n_classes,
                  gpu::align::SearchBatch& batch);

}  // namespace biogpu::align
