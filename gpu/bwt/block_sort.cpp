// The rounds of the block sort: what runs when, and which buffer holds what.
#include "gpu/bwt/block_sort.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "gpu/prim/device_sort_pairs.hpp"
#include "gpu/rt/error.hpp"
#include "gpu/rt/transfer.hpp"

namespace biogpu::gpu::bwt {
namespace {

// More rows save passes over the text; so many fill any device.
constexpr std::uint64_t kMaxRows = std::uint64_t{1} << 30;
// Of one row: its position, two keys, two values, row, head, group; and what ties.
constexpr std::uint64_t kRowBytes = 44;
constexpr std::uint64_t kTiedRowBytes = 24;
// Words that ties are compared over; more of them are left to ranks.
constexpr int kMaxRounds = 16;

std::uint64_t rows_within(std::uint64_t bytes, std::uint64_t bytes_taken) {
  const std::uint64_t left = bytes - std::min(bytes, bytes_taken);
  return std::clamp<std::uint64_t>(left / (kRowBytes + kTiedRowBytes), 1, kMaxRows);
}

}  // namespace

BlockSorter::BlockSorter(const SuffixText& text, std::uint64_t max_bytes, std::uint64_t max_rows) {
  if (text.n == 0) return;
  upload(text);
  cut_blocks(max_rows != 0 ? max_rows : rows_within(max_bytes, words_.bytes() + counts_.bytes()));
}

void BlockSorter::upload(const SuffixText& text) {
  text_ = text;
  const std::size_t n = text.n_words();
  words_.reserve(n + 2);
  counts_.reserve((text.n + kRun - 1) / kRun);
  Event begin;
  Event end;
  begin.record(stream_);
  stream_.copy_to_device(words_.data(), text.words, n * sizeof(std::uint64_t));
  stream_.fill(words_.data() + n, 0, 2 * sizeof(std::uint64_t));
  end.record(stream_);
  end.synchronize();
  seconds_ += end.seconds_since(begin);
  text_.words = words_.data();
}

void BlockSorter::cut_blocks(std::uint64_t max_rows) {
  DeviceBuffer<std::uint64_t> device_bins(kBins);
  std::vector<std::uint64_t> bins(kBins);
  stream_.fill(device_bins.data(), 0, device_bins.bytes());
  launch_count_bins(text_, device_bins.data(), stream_);
  download(stream_, bins, device_bins.data());
  std::uint64_t largest = 0;
  for (std::uint32_t b = 0; b < kBins; ++b) {
    if (bins[b] > max_rows)
      throw DeviceError(DeviceError::Kind::out_of_memory,
                        std::to_string(bins[b]) +
                            " suffixes begin alike, and device memory holds " +
                            std::to_string(max_rows) + " at a time");
    if (blocks_.empty() || blocks_.back().n_rows + bins[b] > max_rows) blocks_.push_back({b, b, 0});
    blocks_.back().last_bin = b + 1;
    blocks_.back().n_rows += bins[b];
    largest = std::max(largest, blocks_.back().n_rows);
  }
  reserve(largest);
}

void BlockSorter::reserve(std::uint64_t n_rows) {
  positions_.reserve(n_rows);
  for (int side = 0; side < 2; ++side) {
    keys_[side].reserve(n_rows);
    values_[side].reserve(n_rows);
  }
  rows_.reserve(n_rows);
  heads_.reserve(n_rows);
  groups_.reserve(n_rows);
  workspace_.reserve(std::max({sort_pairs_workspace_bytes(n_rows), scan_workspace_bytes(n_rows),
                               scan_workspace_bytes(counts_.size())}));
}

void BlockSorter::sort(std::size_t block) {
  Event begin;
  Event end;
  begin.record(stream_);
  positions_ready_ = false;
  n_rows_ = blocks_[block].n_rows;
  depth_ = text_.word_symbols;
  first_round(blocks_[block]);
  for (int round = 0; n_active_ > 0 && round < kMaxRounds; ++round) {
    next_round(n_active_);
    n_rounds_ = std::max(n_rounds_, round + 1);
  }
  end.record(stream_);
  end.synchronize();
  seconds_ += end.seconds_since(begin);
  std::uint64_t bytes = words_.bytes() + counts_.bytes() + positions_.bytes() + rows_.bytes() +
                        heads_.bytes() + groups_.bytes() + workspace_.bytes();
  for (int side = 0; side < 2; ++side)
    bytes += keys_[side].bytes() + values_[side].bytes() + active_rows_[side].bytes() +
             place_[side].bytes() + group_[side].bytes();
  device_bytes_ = std::max(device_bytes_, bytes);
}

void BlockSorter::first_round(const Block& block) {
  n_active_ = 0;
  if (n_rows_ == 0) return;
  const auto n = static_cast<std::uint32_t>(n_rows_);
  const std::size_t n_runs = (text_.n + kRun - 1) / kRun;
  launch_count_run(text_, block.first_bin, block.last_bin, counts_.data(), stream_);
  scan_sum(counts_.data(), counts_.data(), n_runs, workspace_.data(), workspace_.size(), stream_);
  SortPairs pairs{{keys_[0].data(), keys_[1].data()}, {values_[0].data(), values_[1].data()}, 0};
  launch_list_run(text_, block.first_bin, block.last_bin, counts_.data(), positions_.data(),
                  pairs.keys[0], pairs.values[0], stream_);
  sort_pairs(pairs, n, 64, workspace_.data(), workspace_.size(), stream_);
  const std::uint32_t* const rows = pairs.values[pairs.current];
  stream_.copy_on_device(rows_.data(), rows, n * sizeof(std::uint32_t));
  launch_block_heads(text_, pairs.keys[pairs.current], rows, positions_.data(), n, heads_.data(),
                     stream_);
  compact(rows, n, {nullptr, nullptr});
}

// heads_ becomes groups; those of more than one suffix are the active ones of the next round.
void BlockSorter::compact(const std::uint32_t* rows, std::uint32_t n, const TiedItems& from) {
  std::uint32_t* const group = groups_.data();
  scan_max(heads_.data(), group, n, workspace_.data(), workspace_.size(), stream_);
  launch_keep(group, n, heads_.data(), stream_);
  scan_sum(heads_.data(), heads_.data(), n, workspace_.data(), workspace_.size(), stream_);
  n_active_ = download(stream_, heads_.data() + n - 1);
  if (n_active_ == 0) return;
  active_rows_[1].reserve(n_active_);
  place_[1].reserve(n_active_);
  group_[1].reserve(n_active_);
  launch_compact(rows, {from.place, group}, heads_.data(), n, active_rows_[1].data(),
                 {place_[1].data(), group_[1].data()}, stream_);
  for (auto* const pair : {active_rows_, place_, group_}) std::swap(pair[0], pair[1]);
}

void BlockSorter::next_round(std::uint32_t n) {
  const TiedItems active{place_[0].data(), group_[0].data()};
  SortPairs pairs{{keys_[0].data(), keys_[1].data()}, {values_[0].data(), values_[1].data()}, 0};
  launch_next_words(text_, active_rows_[0].data(), positions_.data(), depth_, n, pairs.keys[0],
                    pairs.values[0], stream_);
  sort_pairs(pairs, n, 64, workspace_.data(), workspace_.size(), stream_);
  // Stable: what is in order within all is put in order within each group.
  launch_group_keys(active.group, pairs.values[pairs.current], n, pairs.keys[pairs.current],
                    stream_);
  sort_pairs(pairs, n, static_cast<int>(std::bit_width(n_rows_)), workspace_.data(),
             workspace_.size(), stream_);
  std::uint64_t* const words = pairs.keys[1 - pairs.current];
  active_rows_[1].reserve(n);
  std::uint32_t* const rows = active_rows_[1].data();
  launch_order_rows(active_rows_[0].data(), pairs.values[pairs.current], active.place, n, rows,
                    rows_.data(), stream_);
  launch_next_words(text_, rows, positions_.data(), depth_, n, words, nullptr, stream_);
  launch_word_heads(text_, words, rows, positions_.data(), active, depth_, n, heads_.data(),
                    stream_);
  std::swap(active_rows_[0], active_rows_[1]);
  compact(rows, n, active);
  depth_ += text_.word_symbols;
}

void BlockSorter::queue_copy(std::uint64_t begin, std::uint64_t n, int index_bytes, void* host) {
  const auto n_rows = static_cast<std::uint32_t>(n_rows_);
  if (!positions_ready_ || index_bytes_ != index_bytes) {
    if (index_bytes == sizeof(std::uint32_t))
      launch_positions(positions_.data(), rows_.data(), n_rows,
                       reinterpret_cast<std::uint32_t*>(keys_[0].data()), stream_);
    else
      launch_positions(positions_.data(), rows_.data(), n_rows, keys_[0].data(), stream_);
    positions_ready_ = true;
    index_bytes_ = index_bytes;
  }
  const auto size = static_cast<std::size_t>(index_bytes);
  stream_.copy_to_host(host, reinterpret_cast<const char*>(keys_[0].data()) + begin * size,
                       n * size);
}

std::vector<BlockSorter::Group> BlockSorter::ties() {
  std::vector<Group> groups;
  if (n_active_ == 0) return groups;
  std::vector<std::uint32_t> begins(n_active_);
  download(stream_, begins, group_[0].data());
  for (const std::uint32_t begin : begins) {
    if (groups.empty() || groups.back().begin != begin) groups.push_back({begin, 0});
    ++groups.back().size;
  }
  return groups;
}

}  // namespace biogpu::gpu::bwt
