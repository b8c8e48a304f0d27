#include "lib/align/gpu/scheme_gpu.hpp"

namespace biogpu::align {

namespace kernels = biogpu::gpu::align;

std::vector<std::int8_t> score_table(const Scoring& scoring) {
  std::vector<std::int8_t> table(kernels::kScoreBytes, -128);
  for (int target = 0; target < scoring.n_classes; ++target)
    for (int query = 0; query < scoring.n_classes; ++query)
      table[static_cast<std::size_t>(target * kernels::kScoreStride + query)] =
          scoring.score[static_cast<std::size_t>(query)][static_cast<std::size_t>(target)];
  return table;
}

std::vector<std::uint32_t> packed_words(const Scoring& scoring, int raise) {
  std::vector<std::uint32_t> words(kernels::kPackedWords, 0u);
  for (std::size_t query = 0; query < static_cast<std::size_t>(scoring.n_classes); ++query) {
    for (std::size_t target = 0; target < 4; ++target) {
      const int score = scoring.score[query][target] + raise;
      words[query] |= (static_cast<std::uint32_t>(score) & 0xffu) << (8 * target);
    }
  }
  return words;
}

kernels::CellScheme scheme_of(const Options& options) {
  const bool semiglobal = options.mode == Mode::semiglobal;
  kernels::CellScheme scheme;
  scheme.gap_open = options.scoring.gap_open;
  scheme.gap_extend = options.scoring.gap_extend;
  scheme.local = options.mode == Mode::local;
  scheme.free_query_begin = semiglobal && options.free_ends.query_begin;
  scheme.free_query_end = semiglobal && options.free_ends.query_end;
  scheme.free_target_begin = semiglobal && options.free_ends.target_begin;
  scheme.free_target_end = semiglobal && options.free_ends.target_end;
  return scheme;
}

}  // namespace biogpu::align
