#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace biogpu {

// One GPU as `biogpu devices` lists it. index is the number that --device accepts, after
// CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES took effect.
struct DeviceInfo {
  int index = 0;
  std::string name;
  std::string architecture;  // "sm_90", "gfx942", "emulated"
  std::uint64_t memory_free_bytes = 0;
  std::uint64_t memory_total_bytes = 0;
  int n_multiprocessors = 0;
  int wave_width = 0;   // 32 or 64
  bool usable = false;  // this build has code for it and the driver accepts it
  std::string why_not;  // the reason when not usable
};

// What --device asks for.
struct DeviceRequest {
  enum class Kind { automatic, cpu, gpu, listed };
  Kind kind = Kind::automatic;
  std::vector<int> indices;  // for Kind::listed
};

// "auto", "cpu", "gpu" or a list "0" or "0,1". Throws Error{usage} on anything else.
DeviceRequest parse_device_request(std::string_view text);

// What a run uses, and why: one log line and two JSON fields.
struct DeviceChoice {
  std::vector<int> gpus;                // empty: the CPU backend
  std::string name;                     // "cpu" or the first device's name
  std::string reason;                   // for a person: "input is small", "no GPU driver found"
  std::uint64_t memory_free_bytes = 0;  // of the GPU that has least of it
  int n_offered = 0;                    // GPUs that the request names, used or not
  bool on_gpu() const { return !gpus.empty(); }
};

// Devices that the GPU backend of this build sees, usable or not. Empty, with *why set to one line,
// where the build holds no backend or the machine no driver. Never throws for a missing driver.
std::vector<DeviceInfo> list_devices(std::string* why);

// The GPU backend compiled in: "none", "cuda", "rocm" or "emulated".
std::string_view gpu_backend_name();

inline constexpr int kAllGpus = std::numeric_limits<int>::max();

// Decides between CPU and GPUs. worth_gpu: the caller's estimate that the work pays for start-up
// and transfer; only `auto` asks it. Of the GPUs that the request names (`auto` and `gpu`: all
// usable ones) the first max_gpus are opened, at the same time; the others are not touched. `cpu`
// touches no driver. Throws Error{device} when a listed device is missing, or unusable and among
// those opened.
DeviceChoice choose_device(const DeviceRequest& request, bool worth_gpu, int max_gpus);

// Appends "; 1 of 2 devices used" to the reason of a choice that leaves GPUs unused.
void tell_unused(DeviceChoice& choice);

}  // namespace biogpu
