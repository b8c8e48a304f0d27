#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/qc/cycle_stats.hpp"
#include "gpu/qc/reads.hpp"
#include "gpu/qc/steps.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::qc {

// What is the same for all batches of a run.
struct BatchOptions {
  int mates = 1;    // 2: pairs
  StepRules rules;  // without its pointers
  std::string adapter_text;
  std::vector<AdapterText> fasta_adapters;
  std::vector<std::int16_t> max_differing;  // [kMaxLength + 1]
  std::vector<std::int16_t> min_changes;    // [kMaxLength + 1], empty: no filter
  std::vector<std::uint32_t> primes;        // [n_tables][period], empty: no keys
  std::uint32_t n_tables = 0;
  std::uint32_t period = 0;
  std::uint64_t key_mask = 0;
};

// Pinned host memory for a batch's reads, to be filled by the caller.
struct StagedReads {
  char* bases = nullptr;            // [n_bytes]
  char* quality = nullptr;          // [n_bytes]
  std::uint32_t* begin = nullptr;   // [n_reads + 1]
  std::uint8_t* removed = nullptr;  // [n_reads / mates]
};

// Views into pinned memory, until the next batch.
struct BatchResults {
  const TrimResult* reads = nullptr;    // [n_reads]
  const std::uint64_t* keys = nullptr;  // [n_reads / mates][n_tables]
  const BaseChange* changes = nullptr;
  std::size_t n_changes = 0;
  const FastaCut* cuts = nullptr;
  std::size_t n_cuts = 0;
};

// Runs the steps, the statistics and the keys on one batch after the other: copies to the device,
// kernels and copies back on a stream of its own, so that several of these overlap. Sums of the
// statistics stay on the device. Belongs to the device that was current when it was made; one
// thread at a time. Throws DeviceError.
class BatchSteps {
 public:
  explicit BatchSteps(BatchOptions options);

  // Room for the next batch; reads are at most kMaxLength long.
  StagedReads stage(std::size_t n_reads, std::size_t n_bytes);
  // Computes what was staged. has_removed: StagedReads::removed was filled.
  BatchResults run(int max_length, bool has_removed);

  // The two halves of run(), for measurements: copies the staged reads; launches all kernels on
  // them, once more where they were launched before.
  void copy_in(bool has_removed);
  void launch(int max_length);
  void synchronize() { stream_.synchronize(); }

  // What was added up; after: of the reads that count after filtering.
  StatsSums sums(int mate, bool after);
  double device_seconds() const { return device_s_; }  // copies included
  std::uint64_t device_bytes() const;

 private:
  BatchResults collect();

  BatchOptions options_;
  Stream stream_;
  Event begin_event_;
  Event end_event_;
  double device_s_ = 0;
  std::size_t n_reads_ = 0;
  std::size_t n_bytes_ = 0;
  Reads reads_;

  DeviceBuffer<char> adapter_text_;
  DeviceBuffer<AdapterText> fasta_adapters_;
  DeviceBuffer<std::int16_t> limits_;  // max_differing, then min_changes
  DeviceBuffer<std::uint32_t> primes_;
  DeviceBuffer<StatsSums> sums_;  // [mate][before, after]

  PinnedBuffer<char> host_letters_;  // bases, then qualities
  PinnedBuffer<std::uint32_t> host_begin_;
  PinnedBuffer<std::uint8_t> host_removed_;
  PinnedBuffer<TrimResult> host_results_;
  PinnedBuffer<std::uint64_t> host_keys_;
  PinnedBuffer<BaseChange> host_changes_;
  PinnedBuffer<FastaCut> host_cuts_;
  PinnedBuffer<std::uint32_t> host_counts_;  // of changes, of cuts
  DeviceBuffer<char> letters_;
  DeviceBuffer<std::uint32_t> begin_;
  DeviceBuffer<std::uint8_t> removed_;
  DeviceBuffer<TrimResult> results_;
  DeviceBuffer<unsigned long long> keys_;
  DeviceBuffer<BaseChange> changes_;
  DeviceBuffer<FastaCut> cuts_;
  DeviceBuffer<std::uint32_t> counts_;
};

}  // namespace biogpu::gpu::qc
