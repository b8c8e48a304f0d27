#include "gpu/kmer/distinct/bin_list.hpp"

#include <algorithm>
#include <bit>

#include "gpu/rt/device.hpp"
#include "gpu/rt/transfer.hpp"

namespace biogpu::gpu::kmer {
namespace {

constexpr int kMaxTableBits = 14;

}  // namespace

BinList::BinList() : n_left_(1) {
  const std::uint64_t limit = device_properties(current_device()).shared_bytes_per_block;
  // A kernel's own variables take some of it too.
  constexpr std::uint64_t kOwn = 1024;
  for (table_bits_ = kMaxTableBits; bin_table_bytes(table_bits_) + kOwn > limit;) --table_bits_;
}

// As many values a bin as the smaller table has slots, at most: two blocks of it fit a
// multiprocessor, and k-mers occur several times. Bins of different values go to the larger one.
int BinList::bits_for(std::uint64_t n) const {
  return static_cast<int>(std::bit_width(n >> (table_bits_ - 1)));
}

bool BinList::count_all(BinsArgs args, Stream& stream) {
  args.left = left_.data();
  args.n_left = n_left_.data();
  stream.fill(n_left_.data(), 0, n_left_.bytes());
  launch_find_bins(args, stream);
  launch_count_bins(args, args.n_bins, table_bits_ - 1, stream);
  const std::uint32_t n = download(stream, n_left_.data());
  if (n == 0) return true;
  left_again_.reserve(n);
  args.wanted = left_.data();
  args.left = left_again_.data();
  stream.fill(n_left_.data(), 0, n_left_.bytes());
  launch_count_bins(args, n, table_bits_, stream);
  return download(stream, n_left_.data()) == 0;
}

std::optional<std::uint64_t> BinList::count(std::uint64_t* values, std::uint64_t n_first,
                                            std::uint64_t n, int rest_bits, std::uint32_t n_bins,
                                            std::uint64_t* spare, Stream& stream) {
  begins_.reserve(2 * (std::size_t{n_bins} + 1));
  distinct_begins_.reserve(std::size_t{n_bins} + 1);
  n_distinct_.reserve(n_bins);
  left_.reserve(n_bins);
  in_bins_.reserve(n);
  BinsArgs args;
  args.values = values;
  args.n = n;
  args.n_first = n_first;
  args.rest_bits = rest_bits;
  args.n_bins = n_bins;
  args.begin = begins_.data();
  args.distinct = spare;
  args.count = in_bins_.data();
  args.n_distinct = n_distinct_.data();
  args.distinct_begin = distinct_begins_.data();
  if (!count_all(args, stream)) return std::nullopt;
  launch_sum_bins(args, stream);
  const std::uint64_t n_distinct = download(stream, distinct_begins_.data() + n_bins);
  counts_.reserve(n_distinct);
  launch_gather_bins(args, values, counts_.data(), stream);
  return n_distinct;
}

}  // namespace biogpu::gpu::kmer
