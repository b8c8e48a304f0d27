// Moves an index and batches of probes to the device and answers back.
#include <algorithm>

#include "gpu/bwt/fm_search.hpp"
#include "gpu/rt/transfer.hpp"

namespace biogpu::gpu::bwt {
namespace {

template <class T>
const T* moved(const T* offset, const std::uint8_t* base) {
  return reinterpret_cast<const T*>(base + reinterpret_cast<std::uintptr_t>(offset));
}

}  // namespace

FmSearcher::FmSearcher(const void* bytes, std::uint64_t n_bytes, const FmArrays& arrays)
    : index_(n_bytes), arrays_(arrays), damaged_(1) {
  stream_.fill(damaged_.data(), 0, sizeof(std::uint32_t));
  arrays_.damaged = damaged_.data();
  stream_.copy_to_device(index_.data(), bytes, n_bytes);
  stream_.synchronize();
  const std::uint8_t* const base = index_.data();
  arrays_.blocks = moved(arrays.blocks, base);
  arrays_.stretches = moved(arrays.stretches, base);
  arrays_.table = moved(arrays.table, base);
  arrays_.samples = moved(arrays.samples, base);
  arrays_.starts = moved(arrays.starts, base);
  arrays_.text = moved(arrays.text, base);
  arrays_.segments = moved(arrays.segments, base);
}

std::uint64_t FmSearcher::device_bytes() const {
  return index_.bytes() + patterns_.bytes() + probes_.bytes() + counts_.bytes() + first_.bytes() +
         positions_.bytes() + damaged_.bytes();
}

bool FmSearcher::take_damaged() {
  if (download(stream_, damaged_.data()) == 0) return false;
  stream_.fill(damaged_.data(), 0, damaged_.bytes());
  return true;
}

void FmSearcher::count_on_device(std::span<const std::uint64_t> patterns,
                                 std::span<const FmProbe> probes,
                                 std::vector<std::uint32_t>& counts) {
  counts_.reserve(probes.size());
  counts.resize(probes.size());
  upload(stream_, patterns_, patterns);
  upload(stream_, probes_, probes);
  Event begin;
  Event end;
  begin.record(stream_);
  launch_fm_count(arrays_, patterns_.data(), probes_.data(),
                  static_cast<std::uint32_t>(probes.size()), counts_.data(), stream_);
  end.record(stream_);
  download(stream_, counts, counts_.data());
  seconds_ += end.seconds_since(begin);
}

void FmSearcher::count(std::span<const std::uint64_t> patterns, std::span<const FmProbe> probes,
                       std::span<std::uint64_t> counts) {
  if (probes.empty()) return;
  std::vector<std::uint32_t> found;
  count_on_device(patterns, probes, found);
  std::copy(found.begin(), found.end(), counts.begin());
}

void FmSearcher::locate(std::span<const std::uint64_t> patterns, std::span<const FmProbe> probes,
                        std::vector<std::uint64_t>& first, std::vector<std::uint64_t>& positions) {
  first.assign(1, 0);
  positions.clear();
  if (probes.empty()) return;
  std::vector<std::uint32_t> found;
  count_on_device(patterns, probes, found);
  for (const std::uint32_t count : found) first.push_back(first.back() + count);
  positions.resize(first.back());
  if (positions.empty()) return;
  positions_.reserve(positions.size());
  upload(stream_, first_, first);
  Event begin;
  Event end;
  begin.record(stream_);
  launch_fm_locate(arrays_, patterns_.data(), probes_.data(),
                   static_cast<std::uint32_t>(probes.size()), first_.data(), positions_.data(),
                   stream_);
  end.record(stream_);
  download(stream_, positions, positions_.data());
  seconds_ += end.seconds_since(begin);
}

}  // namespace biogpu::gpu::bwt
