#include "lib/ops/convolution/conv1d_letters.hpp"
#include "lib/ops/reference/outputs.hpp"

namespace biogpu::ops {

void conv1d_letters_ref(const Conv1dLetters& op) {
  const std::int64_t taps = op.table.shape[0], n_out = op.table.shape[2];
  const auto* const letters = op.letters.as<std::uint8_t>();
  for (std::int64_t s = 0; s < op.segments->n_segments; ++s)
    for (std::int64_t t = op.segments->begin(s); t < op.segments->end(s); ++t)
      for (std::int64_t n = 0; n < n_out; ++n) {
        double y = op.bias.empty() ? 0 : op.bias.as<float>()[n];
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          const std::int64_t from = t + tap - (taps - 1) / 2;
          if (from < op.segments->begin(s) || from >= op.segments->end(s)) continue;
          y += op.table.as<float>()[(tap * kLetterCodes + letters[from]) * n_out + n];
        }
        reference::store(op.out, op.activated, t, n, y);
      }
}

}  // namespace biogpu::ops
