#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/core/device.hpp"

namespace biogpu {

namespace align {
struct Options;
struct SearchOptions;
struct SequenceSet;
class GpuAligner;
class GpuSearcher;
}  // namespace align

namespace kmer {
struct GpuCountOptions;
class GpuCounter;
class GpuLookup;
class KeyOrder;
}  // namespace kmer

namespace bwt {
class FmIndex;
class GpuSearch;
struct GpuSortJob;
struct GpuSortReport;
}  // namespace bwt

namespace infer::mpnn {
struct Weights;
class GpuModel;
}  // namespace infer::mpnn

namespace qc {
struct Options;
class GpuSteps;
}  // namespace qc

namespace nn {
struct BackendOptions;
class Backend;
}  // namespace nn

// What a GPU backend offers to the rest of the program. The CUDA backend and the emulated one are
// linked in; the ROCm one is a module beside the binary, opened on first use, because an executable
// linked against AMD's runtime does not start on a machine without it.
struct GpuBackend {
  static constexpr int kInterface =
      11;  // raised with every change of this struct or of what it makes
  int interface = kInterface;
  const char* name = "";
  // Empty, with *why set, when there is no driver or no device. Never throws.
  std::vector<DeviceInfo> (*list_devices)(std::string* why) = nullptr;
  std::unique_ptr<align::GpuAligner> (*make_aligner)(int device, const align::Options& options,
                                                     std::uint64_t max_device_bytes) = nullptr;
  std::unique_ptr<align::GpuSearcher> (*make_searcher)(int device,
                                                       const align::SequenceSet& targets,
                                                       const align::Options& options,
                                                       const align::SearchOptions& search,
                                                       std::uint64_t max_device_bytes) = nullptr;
  std::unique_ptr<kmer::GpuCounter> (*make_kmer_counter)(
      int device, const kmer::GpuCountOptions& options) = nullptr;
  void (*sort_suffixes)(int device, const bwt::GpuSortJob& job,
                        bwt::GpuSortReport& report) = nullptr;
  std::unique_ptr<bwt::GpuSearch> (*make_bwt_search)(int device,
                                                     const bwt::FmIndex& index) = nullptr;
  std::unique_ptr<qc::GpuSteps> (*make_qc_steps)(int device, const qc::Options& options) = nullptr;
  std::unique_ptr<nn::Backend> (*make_nn_backend)(int device,
                                                  const nn::BackendOptions& options) = nullptr;
  std::unique_ptr<kmer::GpuLookup> (*make_kmer_lookup)(int device, const kmer::KeyOrder& order,
                                                       std::uint64_t n_keys) = nullptr;
  std::unique_ptr<infer::mpnn::GpuModel> (*make_structure_model)(
      int device, const infer::mpnn::Weights& weights, std::uint64_t max_device_bytes) = nullptr;
};

// The backend of this build, or nullptr with *why set to one line.
const GpuBackend* gpu_backend(std::string* why);

// Whether there is one, found without opening it or asking a driver.
bool has_gpu_backend();

}  // namespace biogpu

// Defined by the backend itself (lib/gpu_backend/entry.cpp), and by a test that puts a table of its
// own in the backend's place. lib/core calls it only where the program or the module holds it.
extern "C" const biogpu::GpuBackend* biogpu_gpu_backend();
