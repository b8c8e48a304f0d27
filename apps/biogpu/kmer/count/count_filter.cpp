#include "apps/biogpu/kmer/count/count_filter.hpp"

#include <fmt/format.h>

#include <string>

#include "lib/core/error.hpp"
#include "lib/kmer/count/selection.hpp"

namespace biogpu::app {

CountFilter::CountFilter(const CountFlags& flags, const kmer::CountOptions& counter)
    : flags_(flags), order_(counter.order) {
  if (!flags_.only_in.empty()) {
    // As in Jellyfish, the limit of quality is one of the reads.
    kmer::CountOptions every_base = counter;
    every_base.min_quality_symbol = 0;
    listed_.emplace(every_base);
  }
  if (!flags_.bloom_counter.empty()) read_bloom_counter();
}

void CountFilter::read_bloom_counter() {
  bloom_ = kmer::BloomCounter::read(flags_.bloom_counter);
  if (bloom_->k() != flags_.k || bloom_->canonical() != flags_.canonical)
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: is for k {}{}; expected k {}{}", flags_.bloom_counter, bloom_->k(),
                            bloom_->canonical() ? ", canonical" : "", flags_.k,
                            flags_.canonical ? ", canonical" : ""));
}

void CountFilter::read(KmerInput& input) {
  for (const std::string& path : flags_.only_in)
    input.read_file(path, [&](const kmer::FeedSequences& feed) { listed_->add(feed); });
}

void CountFilter::finish() {
  if (listed_) listed_->finish();
}

void CountFilter::apply(kmer::Counter::Bucket& bucket, kmer::Counter::Bucket& scratch) {
  kmer::CountBlock& counts = bucket.counts;
  if (listed_) {
    scratch.index = bucket.index;
    listed_->fetch(scratch);
    kmer::keep_listed(order_, scratch.counts, counts);
  }
  if (flags_.bloom_size > 0)
    for (std::uint64_t& count : counts.counts) --count;
  if (bloom_) apply_bloom_counter(counts);
  if (listed_)
    kmer::keep_if(counts, [&](const std::uint64_t*, std::uint64_t count) {
      return flags_.bounds.holds(count);
    });
}

// The k-mers of --if stay, with a count of 0.
void CountFilter::apply_bloom_counter(kmer::CountBlock& counts) const {
  if (!listed_)
    return kmer::keep_if(
        counts, [&](const std::uint64_t* key, std::uint64_t) { return bloom_->count(key) > 1; });
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts.counts[i] > 0 && bloom_->count(counts.key(i)) < 2) counts.counts[i] = 0;
}

}  // namespace biogpu::app
