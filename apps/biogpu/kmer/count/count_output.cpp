#include "apps/biogpu/kmer/count/count_output.hpp"

namespace biogpu::app {

pipeline::Times CountOutput::write(kmer::DatabaseWriter& out) {
  // A device fills them in page-locked memory, which takes long to get.
  const auto n_threads = static_cast<std::size_t>(n_threads_);
  slots_.resize(counter_.device_usage() ? n_threads + 4 : 2 * n_threads + 1);
  // One thread that writes what others made is slower than a device counts.
  workers_write_ = out.takes_offsets();
  return pipeline::run({n_threads_, static_cast<int>(slots_.size())},
                       {[&](std::size_t slot) { return counter_.next(slots_[slot].bucket); },
                        [&](std::size_t slot) { format(slots_[slot], out); },
                        [&](std::size_t slot) {
                          const BucketRecords& records = slots_[slot];
                          n_written_ += records.bucket.counts.size();
                          if (!workers_write_)
                            out.write(records.bucket.counts, records.bytes);
                          else if (!records.is_written)
                            out.write_at(records.offset, records.bytes);
                        }});
}

void CountOutput::format(BucketRecords& records, kmer::DatabaseWriter& out) {
  kmer::Counter::Bucket& bucket = records.bucket;
  counter_.fetch(bucket);
  filter_.apply(bucket, records.scratch);
  out.prepare(bucket.counts, records.bytes);
  if (!workers_write_) return;
  records.is_written = in_turn_.ready(bucket.index, [&records, &out] {
    records.offset = out.reserve(records.bucket.counts.size());
  });
  if (records.is_written) out.write_at(records.offset, records.bytes);
}

}  // namespace biogpu::app
