// The steps of a sort by groups: what runs when, and which buffer holds what.
#include "gpu/bwt/group_sort.hpp"

#include <algorithm>
#include <utility>

#include "gpu/prim/device_sort_pairs.hpp"
#include "gpu/rt/transfer.hpp"

namespace biogpu::gpu::bwt {

void GroupSorter::reserve(std::size_t n) {
  for (int side = 0; side < 2; ++side) {
    keys_[side].reserve(n);
    items_[side].reserve(n);
  }
  heads_.reserve(n);
  group_.reserve(n);
  workspace_.reserve(std::max(sort_pairs_workspace_bytes(n), scan_workspace_bytes(n)));
}

void GroupSorter::sort(std::uint32_t n, int n_bits, Stream& stream) {
  SortPairs pairs{{keys_[0].data(), keys_[1].data()}, {items_[0].data(), items_[1].data()}, 0};
  sort_pairs(pairs, n, n_bits, workspace_.data(), workspace_.size(), stream);
  if (pairs.current == 0) return;
  std::swap(keys_[0], keys_[1]);
  std::swap(items_[0], items_[1]);
}

void GroupSorter::sort_first(std::uint32_t n, int n_bits, Stream& stream) {
  n_first_ = n;
  sort(n, n_bits, stream);
}

void GroupSorter::settle_first(const Result& result, Stream& stream) {
  settle(n_first_, nullptr, result, stream);
}

void GroupSorter::split(int n_bits, const Result& result, Stream& stream) {
  sort(n_tied_, n_bits, stream);
  launch_heads(keys_[0].data(), place_[0].data(), n_tied_, heads_.data(), stream);
  settle(n_tied_, place_[0].data(), result, stream);
}

void GroupSorter::finish(int n_bits, std::uint32_t* sa, Stream& stream) {
  sort(n_tied_, n_bits, stream);
  launch_store_order(items_[0].data(), place_[0].data(), n_tied_, sa, stream);
  n_tied_ = 0;
}

// heads_ becomes groups; those of more than one item are what ties from here on.
void GroupSorter::settle(std::uint32_t n, const std::uint32_t* place, const Result& result,
                         Stream& stream) {
  scan_max(heads_.data(), group_.data(), n, workspace_.data(), workspace_.size(), stream);
  launch_store_ranks(items_[0].data(), place, group_.data(), n, result.rank, result.sa, stream);
  launch_keep(group_.data(), n, heads_.data(), stream);
  sum_heads(n, stream);
  const auto compact = [&] {
    launch_compact(items_[0].data(), {const_cast<std::uint32_t*>(place), group_.data()},
                   heads_.data(), n, items_[1].data(), {place_[1].data(), tied_group_.data()},
                   stream);
    std::swap(items_[0], items_[1]);
    std::swap(place_[0], place_[1]);
  };
  if (place != nullptr) compact();
  n_tied_ = download(stream, heads_.data() + n - 1);
  if (place != nullptr || n_tied_ == 0) return;
  place_[0].reserve(n_tied_);
  place_[1].reserve(n_tied_);
  tied_group_.reserve(n_tied_);
  compact();
}

void GroupSorter::sum_heads(std::uint32_t n, Stream& stream) {
  scan_sum(heads_.data(), heads_.data(), n, workspace_.data(), workspace_.size(), stream);
}

void GroupSorter::max_scratch(std::uint32_t n, Stream& stream) {
  scan_max(group_.data(), group_.data(), n, workspace_.data(), workspace_.size(), stream);
}

std::uint64_t GroupSorter::bytes() const {
  std::uint64_t bytes = heads_.bytes() + group_.bytes() + tied_group_.bytes() + workspace_.bytes();
  for (int side = 0; side < 2; ++side)
    bytes += keys_[side].bytes() + items_[side].bytes() + place_[side].bytes();
  return bytes;
}

}  // namespace biogpu::gpu::bwt
