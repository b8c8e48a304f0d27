#include "lib/core/gpu_backend.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "lib/core/error.hpp"
#include "lib/core/interface_digest.hpp"
#include "lib/core/module.hpp"

// Weak: null in a program that holds no backend. lib/core lies below the backend and cannot link
// it.
extern "C" const biogpu::GpuBackend* biogpu_gpu_backend() __attribute__((weak));

namespace biogpu {
namespace {

constexpr char kModule[] = "libbiogpu_rocm.so";

const GpuBackend* open_backend_module(std::string* why) {
  const auto path = find_module(kModule);
  if (path.empty()) {
    *why = "this build has no GPU backend";
    return nullptr;
  }
  using Interface = const char* (*)();
  using Entry = const GpuBackend* (*)();
  const auto interface =
      reinterpret_cast<Interface>(open_module(path, "biogpu_gpu_interface", why));
  const auto entry = reinterpret_cast<Entry>(open_module(path, "biogpu_gpu_backend", why));
  if (entry == nullptr) {
    *why = fmt::format("cannot open the GPU backend: {}", *why);
    return nullptr;
  }
  if (interface == nullptr || std::string_view(interface()) != kInterfaceDigest) {
    *why =
        fmt::format("{} is of another build of biogpu; install both from one build", path.string());
    return nullptr;
  }
  return entry();
}

struct Found {
  const GpuBackend* backend = nullptr;
  std::string why;
};

const Found& find_backend() {
  static const Found found = [] {
    Found result;
    result.backend =
        biogpu_gpu_backend != nullptr ? biogpu_gpu_backend() : open_backend_module(&result.why);
    return result;
  }();
  return found;
}

}  // namespace

const GpuBackend* gpu_backend(std::string* why) {
  const Found& found = find_backend();
  if (found.backend == nullptr && why != nullptr) *why = found.why;
  return found.backend;
}

const void* find_gpu_feature(const char* name) {
  std::string why;
  const GpuBackend* backend = gpu_backend(&why);
  if (backend == nullptr) throw Error(ErrorCode::device, why);
  for (const GpuFeature& feature : backend->features)
    if (std::string_view(feature.name) == name) return feature.table;
  throw Error(ErrorCode::device,
              fmt::format("the GPU backend {} has no '{}'; use --device cpu", backend->name, name));
}

bool has_gpu_backend() { return biogpu_gpu_backend != nullptr || !find_module(kModule).empty(); }

}  // namespace biogpu
