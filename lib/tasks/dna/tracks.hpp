#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/bio/genome/letters.hpp"
#include "lib/models/base/dna_model.hpp"
#include "lib/pipeline/record_outputs.hpp"

namespace biogpu::tasks {

// Windows of a model's length.
struct DnaWindows {
  std::vector<std::string> keys;
  std::vector<genome::LetterCode> letters;  // of all, one after the other

  std::size_t size() const { return keys.size(); }
};

struct TrackOptions {
  models::DnaModel::Request request;
  // The mean of a window's numbers and of those of its reverse complement, whose bins are turned
  // round and whose tracks are exchanged as HeadChoice::other_strand says.
  bool both_strands = false;
  std::int64_t windows_per_pass = 1;
  int n_threads = 1;  // that average strands; results do not depend on it
};

// Memory that the arrays of a window take while they are computed, those of ragged heads at most.
std::uint64_t window_bytes(const models::DnaModel& model, const TrackOptions& options);

// The arrays of some windows, appended to the result: [rows, tracks] of each loaded head under
// KEY/HEAD, or KEY where one head is loaded, [s, s, tracks] of pairs of bins; [bins, width] of each
// embedding under KEY, or KEY/NAME where it has a name. A ragged head has KEY/HEAD and, with its
// sites, KEY/HEAD_positions.
void compute_tracks(models::DnaModel& model, const DnaWindows& windows, const TrackOptions& options,
                    pipeline::RecordOutputs& result);

// Loaded heads in groups, in their order: of one head, or of as many as have arrays of max_bytes
// together for a window.
std::vector<models::HeadRange> head_groups(const models::DnaModel& model, std::uint64_t max_bytes);

// What compute_tracks() appends for one window, in results that come later, one for each group. Of
// a model that keeps embeddings; what is to come holds the model.
void compute_in_groups(const std::shared_ptr<models::DnaModel>& model, const DnaWindows& window,
                       std::span<const models::HeadRange> groups, pipeline::RecordOutputs& result);

}  // namespace biogpu::tasks
