#pragma once

#include <cstdint>
#include <memory>

#include "lib/qc/batch/batch.hpp"
#include "lib/qc/options/options.hpp"
#include "lib/qc/stats/summary.hpp"

namespace biogpu::qc {

// Whether the device's kernels know all steps that these options ask for. What they leave to the
// CPU is rare: merging, --overlapped_out, filters by index and phred64.
bool gpu_covers(const Options& options);

// The steps, statistics and duplicates' keys of batches on one device: the same results as
// process_single and process_pairs. Each has a stream and buffers of its own, so that the copies of
// one overlap the kernels of another. One thread at a time. Errors: Error{device_memory},
// Error{failed}.
class GpuSteps {
 public:
  virtual ~GpuSteps() = default;

  // Sets batch.on_device with its results and, unless --dedup asks for them before, batch.keys.
  // False, with nothing changed, where a read is too long for the kernels.
  virtual bool run(Batch& batch) = 0;
  // Adds the statistics of all batches so far.
  virtual void add_stats(Summary& summary) = 0;

  // Host seconds of n_runs runs of all kernels on the reads of the last batch, which lie on the
  // device; for measurements, as the statistics count those reads again.
  virtual double time_kernels(int n_runs) = 0;

  virtual double device_seconds() const = 0;  // of copies and kernels
  virtual std::uint64_t device_bytes() const = 0;
};

// options outlive it. Throws Error{device} where this build has no GPU backend.
std::unique_ptr<GpuSteps> make_gpu_steps(int device, const Options& options);

// What a GPU backend offers to qc; found through lib/core/gpu_backend.hpp. The function is that of
// make_gpu_steps().
struct GpuTable {
  static constexpr const char* kFeature = "qc";
  std::unique_ptr<GpuSteps> (*make_steps)(int device, const Options& options);
};

extern const GpuTable kGpuTable;  // defined by the backend

}  // namespace biogpu::qc
