#include "lib/core/gpu_backend.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "lib/core/error.hpp"
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
  using Entry = const GpuBackend* (*)();
  const auto entry = reinterpret_cast<Entry>(open_module(path, "biogpu_gpu_backend", why));
  if (entry == nullptr) {
    *why = fmt::format("cannot open the GPU backend: {}", *why);
    return nullptr;
  }
  const GpuBackend* backend = entry();
  if (backend == nullptr || backend->interface != GpuBackend::kInterface) {
    *why = fmt::format("{} is of another version of biogpu", path.string());
    return nullptr;
  }
  return backend;
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

const void* find_gpu_feature(const char* name, int version) {
  std::string why;
  const GpuBackend* backend = gpu_backend(&why);
  if (backend == nullptr) throw Error(ErrorCode::device, why);
  for (const GpuFeature& feature : backend->features)
    if (std::string_view(feature.name) == name && feature.version == version) return feature.table;
  throw Error(ErrorCode::device,
              fmt::format("the GPU backend {} has no version {} of '{}'; use --device cpu",
                          backend->name, version, name));
}

bool has_gpu_backend() { return biogpu_gpu_backend != nullptr || !find_module(kModule).empty(); }

}  // namespace biogpu
