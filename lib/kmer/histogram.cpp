#include "lib/kmer/histogram.hpp"

#include <fmt/format.h>

#include <iterator>
#include <new>

#include "lib/core/error.hpp"
#include "lib/io/allocation_may_fail.hpp"

namespace biogpu::kmer {
namespace {
constexpr std::uint64_t kMaxBuckets = std::uint64_t{1} << 32;
}

Histogram::Histogram(const HistogramShape& shape)
    : base_(shape.increment < shape.low ? shape.low - shape.increment : 0),
      ceil_(shape.high + shape.increment),
      increment_(shape.increment) {
  if (shape.high < shape.low)
    throw Error(ErrorCode::usage,
                fmt::format("--high {} is below --low {}", shape.high, shape.low));
  const std::uint64_t n = (ceil_ + increment_ - base_) / increment_;
  if (ceil_ < shape.high || n > kMaxBuckets)
    throw Error(ErrorCode::usage, fmt::format("--high {} makes too many buckets; use a larger "
                                              "--increment",
                                              shape.high));
  const io::AllocationMayFail may_fail;  // the line below says what to change
  try {
    buckets_.resize(n);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::host_memory,
                fmt::format("out of memory for the {} buckets up to --high {}; use a larger "
                            "--increment or a smaller --high",
                            n, shape.high));
  }
}

void Histogram::add(std::span<const std::uint64_t> counts) {
  for (const std::uint64_t count : counts) {
    if (count < base_)
      ++buckets_.front();
    else if (count > ceil_)
      ++buckets_.back();
    else
      ++buckets_[(count - base_) / increment_];
  }
}

std::string Histogram::text(bool all) const {
  std::string out;
  for (std::size_t i = 0; i < buckets_.size(); ++i)
    if (all || buckets_[i] > 0)
      fmt::format_to(std::back_inserter(out), "{} {}\n", base_ + i * increment_, buckets_[i]);
  return out;
}

}  // namespace biogpu::kmer
