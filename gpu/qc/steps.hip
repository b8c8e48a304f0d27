// What fastp's steps between UMI and filters leave of each read, and what they did to it.
//
// Shapes   see StepsArgs.
// Mapping  a wave a read or pair, four waves a block; the letters lie in shared memory. Lanes are
//          bases where a step looks at bases, positions or offsets where it searches.
// Traffic  2 bytes a base in, 28 a read out; shared 1 KiB a read and 0.5 KiB a pair. Bound by the
//          search for overlaps: some 40 instructions an offset.
// Result   exact; independent of wave width and grid, but for the order of changes and cuts.
// Limits   kMaxLength bases a read.
// Source   Chen et al., doi:10.1093/bioinformatics/bty560.
// Oracle   lib/qc/steps/trim_pipeline.hpp and filter.hpp.
#include "gpu/qc/steps.hpp"

#include "gpu/qc/adapter_row.hpp"
#include "gpu/qc/overlap_row.hpp"
#include "gpu/qc/trim_row.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::qc {
namespace {

constexpr int kWavesPerBlock = 4;

template <int kWave>
__device__ void load_row(const Reads& reads, std::uint32_t read, Row& row) {
  const std::uint32_t begin = reads.begin[read];
  row.length = static_cast<int>(reads.begin[read + 1] - begin);
  for (int i = wave_lane<kWave>(); i < row.length; i += kWave) {
    row.bases[i] = reads.bases[begin + static_cast<std::uint32_t>(i)];
    row.quality[i] = reads.quality[begin + static_cast<std::uint32_t>(i)];
  }
}

// The UMI and what is skipped behind it come off first; one base always stays.
__device__ __forceinline__ void cut_umi(Row& row, const TrimRule& trim, const StepRules& rules) {
  if (trim.umi_length == 0) return;
  const int taken = lesser(row.length, trim.umi_length) + rules.umi_skip;
  const int cut = greater(0, lesser(row.length - 1, taken));
  row.begin += cut;
  row.length -= cut;
}

template <int kWave>
__device__ bool trim_own_adapter(Row& row, const AdapterText& adapter, const StepRules& rules,
                                 TrimResult& result) {
  constexpr int kMatchRequire = 4;
  return adapter.length > 0 &&
         trim_adapter<kWave>(row, rules.adapter_text + adapter.begin, adapter.length, kMatchRequire,
                             rules.gapped_adapters, result);
}

// fastp 0.23 does not count these.
template <int kWave>
__device__ void trim_fasta_adapters(const StepsArgs& a, std::uint32_t read, Row& row,
                                    TrimResult& result) {
  const StepRules& rules = a.rules;
  for (std::uint32_t k = 0; k < rules.n_fasta_adapters; ++k) {
    const AdapterText adapter = rules.fasta_adapters[k];
    TrimResult cut;
    if (!trim_adapter<kWave>(row, rules.adapter_text + adapter.begin, adapter.length,
                             rules.fasta_match_require, rules.gapped_adapters, cut) ||
        !rules.counts_fasta_adapters)
      continue;
    result.flags |= kFastaAdapter;
    const bool ahead = (cut.flags & kAdapterAhead) != 0;
    if (wave_lane<kWave>() == 0)
      a.cuts[atomicAdd(a.n_cuts, 1u)] = {
          read, ahead ? -1 - static_cast<std::int32_t>(k) : cut.adapter_begin, cut.adapter_length};
  }
}

__device__ __forceinline__ bool found_adapter(const TrimResult& result) {
  return result.adapter_length > 0 || (result.flags & (kCutByOverlap | kFastaAdapter)) != 0;
}

__device__ __forceinline__ void limit_length(Row& row, const TrimRule& trim) {
  if (trim.max_length > 0) row.keep_front(trim.max_length);
}

// The first filter that the read fails, in fastp's order.
template <int kWave>
__device__ Verdict filter(const Row& row, const StepRules& rules) {
  const int n = row.length;
  if (row.dropped || n == 0) return Verdict::too_short;
  if (rules.filters_quality) {
    const int low = count_where<kWave>(n, [&](int i) { return row.phred33(i) < rules.qualified; });
    if (100 * low > rules.unqualified_percent * n) return Verdict::low_quality;
    if (rules.average_quality > 0) {
      int sum = 0;
      for (int i = wave_lane<kWave>(); i < n; i += kWave) sum += row.phred33(i) - 33;
      if (wave_sum<kWave>(sum) / n < rules.average_quality) return Verdict::low_quality;
    }
    if (count_where<kWave>(n, [&](int i) { return row.base(i) == 'N'; }) > rules.n_base_limit)
      return Verdict::too_many_n;
  }
  if (rules.filters_length) {
    if (n < rules.length_required) return Verdict::too_short;
    if (rules.length_limit > 0 && n > rules.length_limit) return Verdict::too_long;
  }
  if (rules.min_changes != nullptr && count_where<kWave>(n - 1, [&](int i) {
                                        return row.base(i) != row.base(i + 1);
                                      }) < rules.min_changes[n])
    return Verdict::low_complexity;
  return Verdict::passed;
}

template <int kWave>
__device__ void run_single(const StepsArgs& a, std::uint32_t read, Row& row, TrimResult& result) {
  const StepRules& rules = a.rules;
  trim_and_cut<kWave>(row, rules.trim[0], rules);
  if (row.dropped) return;
  if (rules.poly_g_min > 0) trim_poly_g<kWave>(row, rules.poly_g_min);
  if (rules.trims_adapters) {
    trim_own_adapter<kWave>(row, rules.adapter[0], rules, result);
    trim_fasta_adapters<kWave>(a, read, row, result);
    if (found_adapter(result) && row.length <= rules.dimer_max_len)
      result.verdict = Verdict::adapter_dimer;
  }
  if (rules.poly_x_min > 0) trim_poly_x<kWave>(row, rules.poly_x_min, result);
  limit_length(row, rules.trim[0]);
}

template <int kWave>
__device__ void trim_pair_adapters(const StepsArgs& a, std::uint32_t read1, Row* rows,
                                   const Overlap& overlap, TrimResult* results) {
  const StepRules& rules = a.rules;
  const Overlap shown = rules.gapped_overlap && !overlap.found
                            ? find_overlap_with_gap<kWave>(rows[0], rows[1], rules)
                            : overlap;
  const bool by_overlap = trim_by_overlap(rows[0], rows[1], shown, results);
  for (int m = 0; m < 2; ++m) {
    if (!by_overlap) trim_own_adapter<kWave>(rows[m], rules.adapter[m], rules, results[m]);
    trim_fasta_adapters<kWave>(a, read1 + static_cast<std::uint32_t>(m), rows[m], results[m]);
  }
  if ((found_adapter(results[0]) || found_adapter(results[1])) &&
      greater(rows[0].length, rows[1].length) <= rules.dimer_max_len)
    results[0].verdict = results[1].verdict = Verdict::adapter_dimer;
}

// Once a mate is dropped the other is left alone.
template <int kWave>
__device__ void run_pair(const StepsArgs& a, std::uint32_t read1, Row* rows, Planes* planes,
                         TrimResult* results) {
  const StepRules& rules = a.rules;
  for (int m = 0; m < 2; ++m) trim_and_cut<kWave>(rows[m], rules.trim[m], rules);
  results[0].insert_size = -1;
  if (rows[0].dropped || rows[1].dropped) return;
  if (rules.poly_g_min > 0)
    for (int m = 0; m < 2; ++m) trim_poly_g<kWave>(rows[m], rules.poly_g_min);
  const Overlap overlap = find_overlap<kWave>(rows[0], rows[1], planes[0], planes[1], rules);
  results[0].insert_size = static_cast<std::int16_t>(insert_size_of(rows[0], rows[1], overlap));
  if (rules.corrects) correct_by_overlap<kWave>(a, read1, rows[0], rows[1], overlap, results);
  if (rules.trims_adapters) trim_pair_adapters<kWave>(a, read1, rows, overlap, results);
  for (int m = 0; m < 2; ++m) {
    if (rules.poly_x_min > 0) trim_poly_x<kWave>(rows[m], rules.poly_x_min, results[m]);
    limit_length(rows[m], rules.trim[m]);
  }
}

template <int kWave, int kMates>
__global__ BIOGPU_LAUNCH_BOUNDS(kWavesPerBlock* kWave, 8) void steps_kernel(StepsArgs a) {
  __shared__ char letters[kWavesPerBlock][kMates][2][kMaxLength];
  __shared__ Planes planes[kWavesPerBlock][2];
  const int wave = static_cast<int>(threadIdx.x) / kWave;
  const std::uint32_t item = blockIdx.x * kWavesPerBlock + static_cast<std::uint32_t>(wave);
  const std::uint32_t read = item * kMates;
  if (read >= a.reads.n_reads) return;  // the whole wave; there are no barriers of the block
  Row rows[kMates];
  TrimResult results[kMates];
  for (int m = 0; m < kMates; ++m) {
    rows[m].bases = letters[wave][m][0];
    rows[m].quality = letters[wave][m][1];
    load_row<kWave>(a.reads, read + static_cast<std::uint32_t>(m), rows[m]);
    cut_umi(rows[m], a.rules.trim[m], a.rules);
  }
  wave_sync<kWave>();
  if constexpr (kMates == 2)
    run_pair<kWave>(a, read, rows, planes[wave], results);
  else
    run_single<kWave>(a, read, rows[0], results[0]);
  bool counts = a.reads.removed == nullptr || a.reads.removed[item] == 0;
  for (int m = 0; m < kMates; ++m) {
    results[m].begin = rows[m].begin;
    results[m].length = rows[m].length;
    if (results[m].verdict == Verdict::passed) results[m].verdict = filter<kWave>(rows[m], a.rules);
    if (rows[m].dropped) results[m].flags |= kDropped;
    counts = counts && results[m].verdict == Verdict::passed;
  }
  if (wave_lane<kWave>() != 0) return;
  for (int m = 0; m < kMates; ++m) {
    if (counts) results[m].flags |= kCountsAfter;
    a.results[read + static_cast<std::uint32_t>(m)] = results[m];
  }
}

}  // namespace

void launch_steps(const StepsArgs& a, Stream& stream) {
  if (a.reads.n_reads == 0) return;  // an empty grid is a launch error
  const auto width = static_cast<unsigned>(stream.wave_width());
  const std::uint32_t n_items = a.reads.n_reads / static_cast<std::uint32_t>(a.reads.mates);
  const auto kernel = a.reads.mates == 2
                          ? (width == 64 ? steps_kernel<64, 2> : steps_kernel<32, 2>)
                          : (width == 64 ? steps_kernel<64, 1> : steps_kernel<32, 1>);
  stream.launch(kernel, ceil_div<std::size_t>(n_items, kWavesPerBlock), kWavesPerBlock * width, a);
}

}  // namespace biogpu::gpu::qc
