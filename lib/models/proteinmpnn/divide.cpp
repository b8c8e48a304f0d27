#include <algorithm>

#include "lib/models/proteinmpnn/divide.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

// Takes up to n from the front.
template <class T>
std::span<T> take(std::span<T>& from, std::int64_t n) {
  const auto count = std::min(from.size(), static_cast<std::size_t>(std::max<std::int64_t>(n, 0)));
  const std::span<T> taken = from.first(count);
  from = from.subspan(count);
  return taken;
}

}  // namespace

std::vector<std::vector<Work>> divide(std::span<const Work> works, std::int64_t most_rows,
                                      std::int64_t most_states) {
  std::vector<std::vector<Work>> batches(1);
  std::int64_t n_rows = 0, n_states = 0;
  for (const Work& work : works) {
    const std::int64_t n = work.complex->n;
    // Samples with ties are scored, too.
    const std::int64_t per_sample = work.constraints->tied.empty() ? n : 2 * n;
    Work rest = work;
    do {
      const bool fits = n_rows + n <= most_rows && n_states + per_sample <= most_states;
      if (!fits && !batches.back().empty()) {
        batches.emplace_back();
        n_rows = n_states = 0;
      }
      // At least one sequence, of any size.
      const std::int64_t n_free = std::max(most_states - n_states, per_sample);
      Work part = rest;
      part.samples = take(rest.samples, n_free / std::max<std::int64_t>(1, per_sample));
      const std::int64_t taken = static_cast<std::int64_t>(part.samples.size()) * per_sample;
      part.scorings = take(rest.scorings, (n_free - taken) / std::max<std::int64_t>(1, n));
      batches.back().push_back(part);
      n_rows += n;
      n_states += taken + static_cast<std::int64_t>(part.scorings.size()) * n;
      rest.taps = nullptr;
    } while (!rest.samples.empty() || !rest.scorings.empty());
  }
  return batches;
}

}  // namespace biogpu::models::proteinmpnn
