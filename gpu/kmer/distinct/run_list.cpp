#include "gpu/kmer/distinct/run_list.hpp"

#include "gpu/rt/transfer.hpp"

namespace biogpu::gpu::kmer {

std::uint64_t RunList::list(RunsArgs args, Stream& stream) {
  const std::size_t n_blocks = n_run_blocks(args.n);
  n_in_block_.reserve(n_blocks);
  block_begin_.reserve(n_blocks + 1);
  args.n_in_block = n_in_block_.data();
  args.block_begin = block_begin_.data();
  launch_count_runs(args, stream);
  const std::uint64_t n_runs = download(stream, block_begin_.data() + n_blocks);
  begins_.reserve(n_runs + 1);
  lengths_.reserve(n_runs);
  args.run_begin = begins_.data();
  args.run_length = lengths_.data();
  launch_list_runs(args, n_runs, stream);
  return n_runs;
}

}  // namespace biogpu::gpu::kmer
