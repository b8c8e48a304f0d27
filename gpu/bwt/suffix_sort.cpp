// The rounds of the suffix sort: what runs when, and which buffer holds what.
#include "gpu/bwt/suffix_sort.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "gpu/prim/device_sort_pairs.hpp"

namespace biogpu::gpu::bwt {
namespace {

constexpr std::uint32_t kKeyBases = 32;

}  // namespace

void SuffixSorter::sort(const std::uint64_t* text, std::uint64_t n) {
  text_.n = static_cast<std::uint32_t>(n);
  n_rounds_ = 0;
  n_active_ = 0;
  if (n == 0) return;
  const std::size_t n_words = (n + 31) / 32;
  words_.reserve(n_words + 2);
  for (int side = 0; side < 2; ++side) {
    keys_[side].reserve(n);
    positions_[side].reserve(n);
  }
  group_[0].reserve(n);
  rank_.reserve(n + 1);
  sa_.reserve(n);
  heads_.reserve(n);
  workspace_.reserve(std::max(sort_pairs_workspace_bytes(n), scan_workspace_bytes(n)));
  Event begin;
  Event end;
  begin.record(stream_);
  stream_.copy_to_device(words_.data(), text, n_words * sizeof(std::uint64_t));
  stream_.fill(words_.data() + n_words, 0, 2 * sizeof(std::uint64_t));
  text_.text = words_.data();
  first_round();
  rounds();
  end.record(stream_);
  end.synchronize();
  seconds_ = end.seconds_since(begin);
}

void SuffixSorter::first_round() {
  const std::uint32_t n = text_.n;
  SortPairs pairs{
      {keys_[0].data(), keys_[1].data()}, {positions_[0].data(), positions_[1].data()}, 0};
  launch_first_keys(text_, pairs.keys[0], pairs.values[0], stream_);
  sort_pairs(pairs, n, 64, workspace_.data(), workspace_.size(), stream_);
  const std::uint64_t* const keys = pairs.keys[pairs.current];
  const std::uint32_t* const positions = pairs.values[pairs.current];
  std::uint32_t* const group = group_[0].data();
  launch_first_heads(text_, keys, positions, heads_.data(), stream_);
  scan_max(heads_.data(), group, n, workspace_.data(), workspace_.size(), stream_);
  stream_.fill(rank_.data() + n, 0, sizeof(std::uint32_t));
  launch_store_ranks(positions, nullptr, group, n, rank_.data(), sa_.data(), stream_);
  launch_keep(group, n, heads_.data(), stream_);
  scan_sum(heads_.data(), heads_.data(), n, workspace_.data(), workspace_.size(), stream_);
  stream_.copy_to_host(&n_active_, heads_.data() + n - 1, sizeof n_active_);
  stream_.synchronize();
  place_[0].reserve(n_active_);
  place_[1].reserve(n_active_);
  group_[1].reserve(n_active_);
  device_bytes_ = words_.bytes() + 2 * (keys_[0].bytes() + positions_[0].bytes()) +
                  group_[0].bytes() + group_[1].bytes() + 2 * place_[0].bytes() + rank_.bytes() +
                  sa_.bytes() + heads_.bytes() + workspace_.bytes();
  if (n_active_ > 0)
    launch_compact(positions, {nullptr, group}, heads_.data(), n, pairs.values[1 - pairs.current],
                   {place_[1].data(), group_[1].data()}, stream_);
  // What is tied lies in the buffers of side 1 from here on.
  if (pairs.current == 1) std::swap(positions_[0], positions_[1]);
}

void SuffixSorter::rounds() {
  const int n_bits = static_cast<int>(std::bit_width(std::uint64_t{text_.n} + 1));
  for (std::uint64_t h = kKeyBases; n_active_ > 0; h *= 2, ++n_rounds_) {
    const std::uint32_t n = n_active_;
    SortPairs pairs{
        {keys_[0].data(), keys_[1].data()}, {positions_[1].data(), positions_[0].data()}, 0};
    std::uint32_t* const place = place_[1].data();
    std::uint32_t* const group = group_[0].data();
    launch_round_keys(positions_[1].data(), group_[1].data(), rank_.data(), n,
                      static_cast<std::uint32_t>(h), n_bits, keys_[0].data(), stream_);
    sort_pairs(pairs, n, 2 * n_bits, workspace_.data(), workspace_.size(), stream_);
    const std::uint32_t* const positions = pairs.values[pairs.current];
    launch_heads(pairs.keys[pairs.current], place, n, heads_.data(), stream_);
    scan_max(heads_.data(), group, n, workspace_.data(), workspace_.size(), stream_);
    launch_store_ranks(positions, place, group, n, rank_.data(), sa_.data(), stream_);
    launch_keep(group, n, heads_.data(), stream_);
    scan_sum(heads_.data(), heads_.data(), n, workspace_.data(), workspace_.size(), stream_);
    launch_compact(positions, {place, group}, heads_.data(), n, pairs.values[1 - pairs.current],
                   {place_[0].data(), group_[1].data()}, stream_);
    stream_.copy_to_host(&n_active_, heads_.data() + n - 1, sizeof n_active_);
    stream_.synchronize();
    std::swap(place_[0], place_[1]);
    if (pairs.current == 0) std::swap(positions_[0], positions_[1]);
  }
}

void SuffixSorter::copy_suffix_array(std::uint32_t* sa) {
  if (text_.n == 0) return;
  queue_copy(0, text_.n, sa);
  stream_.synchronize();
}

void SuffixSorter::queue_copy(std::uint64_t begin, std::uint64_t n, std::uint32_t* sa) {
  stream_.copy_to_host(sa, sa_.data() + begin, n * sizeof(std::uint32_t));
}

std::uint32_t SuffixSorter::copy_transform(std::uint32_t* bwt) {
  if (text_.n == 0) return 0;
  std::uint32_t* const primary = heads_.data();
  std::uint32_t* const device_bwt = group_[0].data();
  launch_find_primary(sa_.data(), text_.n, primary, stream_);
  launch_transform(text_, sa_.data(), primary, device_bwt, stream_);
  std::uint32_t row = 0;
  stream_.copy_to_host(bwt, device_bwt, (text_.n + std::size_t{15}) / 16 * sizeof(std::uint32_t));
  stream_.copy_to_host(&row, primary, sizeof row);
  stream_.synchronize();
  return row;
}

}  // namespace biogpu::gpu::bwt
