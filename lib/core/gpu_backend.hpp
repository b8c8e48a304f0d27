#pragma once

#include <future>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/core/device.hpp"

namespace biogpu {

// What a GPU backend offers to one feature: a struct of functions that the feature declares itself,
// with `static constexpr const char* kFeature`.
struct GpuFeature {
  const char* name = "";
  const void* table = nullptr;
};

// The entry of a feature's table in a backend's list.
template <class Table>
constexpr GpuFeature gpu_feature_entry(const Table& table) {
  return {Table::kFeature, &table};
}

// What a GPU backend offers to the rest of the program. The CUDA backend and the emulated one are
// linked in; the ROCm one is a module beside the binary, opened on first use, because an executable
// linked against AMD's runtime does not start on a machine without it.
struct GpuBackend {
  const char* name = "";
  // Empty, with *why set, when there is no driver or no device. Never throws.
  std::vector<DeviceInfo> (*list_devices)(std::string* why) = nullptr;
  std::span<const GpuFeature> features;
  // The same without contexts on devices where that can be; null: list_devices().
  std::vector<DeviceInfo> (*describe_devices)(std::string* why) = nullptr;
  // The same, and without what open_device() finds out. Null where open_device is.
  std::vector<DeviceInfo> (*name_devices)(std::string* why) = nullptr;
  // Makes a context on a device that was described, and finds out whether it can be used and how
  // much memory is free. Null: list_devices() did. Never throws.
  void (*open_device)(DeviceInfo& device) = nullptr;
};

// The backend of this build, or nullptr with *why set to one line.
const GpuBackend* gpu_backend(std::string* why);

// Runs a task that asks for devices in another thread. The calling thread, which lives longer,
// opens the backend first: AMD's runtime faults at exit where a thread that has ended opened it and
// another one called it later.
template <class Task>
auto async_with_backend(Task task) {
  (void)gpu_backend(nullptr);
  return std::async(std::launch::async, std::move(task));
}

// The backend's table of a feature. Throws Error{device} where there is no backend, or it does not
// have the feature.
const void* find_gpu_feature(const char* name);
template <class Table>
const Table& gpu_feature() {
  return *static_cast<const Table*>(find_gpu_feature(Table::kFeature));
}

// Whether there is one, found without opening it or asking a driver.
bool has_gpu_backend();

}  // namespace biogpu

// Defined by the backend itself (lib/gpu_backend/entry.cpp), and by a test that puts a table of its
// own in the backend's place. lib/core calls it only where the program or the module holds it.
extern "C" const biogpu::GpuBackend* biogpu_gpu_backend();

// Digest of lib's headers that the module was compiled with, which a program compares
// with its own before it calls biogpu_gpu_backend(). A module with other structs is not called.
extern "C" const char* biogpu_gpu_interface();
