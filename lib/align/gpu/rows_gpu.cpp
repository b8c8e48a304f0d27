#include "lib/align/gpu/rows_gpu.hpp"

#include "lib/align/gpu/huge_pages_gpu.hpp"
#include "lib/core/parallel_for.hpp"

namespace biogpu::align {

namespace kernels = biogpu::gpu::align;

void set_gpu_row(const Options& options, Alignment& row, const kernels::PairEnd& end,
                 const kernels::PairPath& path) {
  row = {};
  row.score = end.score;
  if (options.output == Output::score) return;
  row.query_end = end.row;
  row.target_end = end.column;
  if (options.output == Output::ends) return;
  row.matches = path.matches;
  row.similar = path.similar;
  row.length = path.length;
  if (options.output == Output::statistics) return;
  row.query_begin = path.row_begin;
  row.target_begin = path.column_begin;
  row.n_cigar = path.n_runs;
  row.cigar_begin = path.run_begin;
}

void append_paths(std::span<const std::uint32_t> runs, std::size_t first, std::size_t last,
                  Alignments& all) {
  const std::size_t n = last - first;
  Alignment* const rows = all.rows.data() + first;
  std::vector<std::uint64_t> begins(count_chunks(n, kPairsOfChunk));
  parallel_for_chunks(n, kPairsOfChunk, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    std::uint64_t sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += rows[i].n_cigar;
    begins[chunk] = sum;
  });
  std::uint64_t at = all.cigar.size();
  for (std::uint64_t& begin : begins) {
    const std::uint64_t own = begin;
    begin = at;
    at += own;
  }
  reserve_growing(all.cigar, at, last, all.rows.size());
  all.cigar.resize(at);
  parallel_for_chunks(n, kPairsOfChunk, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    std::uint64_t to = begins[chunk];
    for (std::size_t i = begin; i < end; ++i) {
      Alignment& row = rows[i];
      if (row.n_cigar == 0) {
        row.cigar_begin = 0;
        continue;
      }
      const auto from = runs.begin() + static_cast<std::ptrdiff_t>(row.cigar_begin);
      std::copy_n(from, row.n_cigar, all.cigar.begin() + static_cast<std::ptrdiff_t>(to));
      row.cigar_begin = to;
      to += row.n_cigar;
    }
  });
}

}  // namespace biogpu::align
