#include "gpu/kmer/lookup/lookup_table.hpp"

#include <algorithm>
#include <bit>

#include "gpu/kmer/timed.hpp"
#include "gpu/rt/error.hpp"
#include "gpu/rt/transfer.hpp"

namespace biogpu::gpu::kmer {
namespace {

constexpr int kMaxIndexBits = 28;
constexpr std::size_t kBatch = 1u << 21;  // keys copied at a time

// A bucket or a little more for each key.
int index_bits_for(std::uint64_t n_keys, int k) {
  const auto bits = static_cast<int>(std::bit_width(std::max<std::uint64_t>(n_keys, 2) - 1));
  return std::min({bits, kMaxIndexBits, 2 * k});
}

}  // namespace

LookupTable::LookupTable(const LookupTableOptions& options)
    : options_(options), index_bits_(index_bits_for(options.n_keys, options.k)) {
  if (options_.n_keys >= UINT32_MAX)
    throw DeviceError(DeviceError::Kind::out_of_memory,
                      "a database of 2^32 k-mers or more does not fit; use --device cpu");
  sort_keys_ =
      DeviceBuffer<std::uint64_t>(options_.n_keys * static_cast<std::size_t>(rule().n_words));
  counts_ = DeviceBuffer<std::uint64_t>(options_.n_keys);
  begins_ = DeviceBuffer<std::uint32_t>((std::size_t{1} << index_bits_) + 1);
  upload(stream_, tables_, options_.tables);
  stream_.synchronize();
}

KeyRule LookupTable::rule() const {
  return {options_.k, options_.n_words, options_.size_bits, tables_.data(),
          static_cast<int>(options_.tables.size() / 256)};
}

SortKeyTable LookupTable::table() const {
  return {rule(), sort_keys_.data(), counts_.data(), n_, index_bits_, begins_.data()};
}

void LookupTable::append(std::span<const std::uint64_t> keys,
                         std::span<const std::uint64_t> counts) {
  const auto n_words = static_cast<std::size_t>(options_.n_words);
  if (counts.size() > options_.n_keys - n_)
    throw DeviceError(DeviceError::Kind::failed, "a database holds more k-mers than it says");
  std::uint64_t* const sort_keys = sort_keys_.data() + n_ * n_words;
  stream_.copy_to_device(sort_keys, keys.data(), keys.size_bytes());
  stream_.copy_to_device(counts_.data() + n_, counts.data(), counts.size_bytes());
  launch_encode_keys({rule(), sort_keys, counts.size(), sort_keys}, stream_);
  stream_.synchronize();
  n_ += counts.size();
}

void LookupTable::finish() {
  launch_index_sort_keys(table(), stream_);
  stream_.synchronize();
}

void LookupTable::find(const std::uint64_t* keys, std::span<std::uint64_t> counts) {
  Lane& lane = lanes_.acquire();
  for (std::size_t begin = 0; begin < counts.size(); begin += kBatch) {
    const std::size_t n = std::min(kBatch, counts.size() - begin);
    find_batch(keys + begin * static_cast<std::size_t>(options_.n_words), counts.subspan(begin, n),
               lane);
  }
  lanes_.release(lane);
}

void LookupTable::find_batch(const std::uint64_t* keys, std::span<std::uint64_t> counts,
                             Lane& lane) {
  const std::size_t n = counts.size();
  const std::size_t n_key_words = n * static_cast<std::size_t>(options_.n_words);
  lane.host_keys.reserve(n_key_words);
  lane.host_counts.reserve(n);
  lane.keys.reserve(n_key_words);
  lane.counts.reserve(n);
  std::copy_n(keys, n_key_words, lane.host_keys.data());
  lane.stream.copy_to_device(lane.keys.data(), lane.host_keys.data(),
                             n_key_words * sizeof(std::uint64_t));
  Timed timed(lane.stream, lane.find_s);
  launch_find_keys({table(), lane.keys.data(), n, lane.counts.data()}, lane.stream);
  timed.stop();
  lane.stream.copy_to_host(lane.host_counts.data(), lane.counts.data(), n * sizeof(std::uint64_t));
  lane.stream.synchronize();
  std::copy_n(lane.host_counts.data(), n, counts.begin());
}

double LookupTable::find_s() const {
  double sum = 0;
  for (const Lane& lane : lanes_.all()) sum += lane.find_s;
  return sum;
}

}  // namespace biogpu::gpu::kmer
