#include "lib/core/gpu_backend.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "lib/core/error.hpp"

// Weak: null in a program that holds no backend. lib/core lies below the backend and cannot link
// it.
extern "C" const biogpu::GpuBackend* biogpu_gpu_backend() __attribute__((weak));

namespace biogpu {
namespace {

constexpr char kModule[] = "libbiogpu_rocm.so";

// Of the program or the shared library that this file is linked into.
std::filesystem::path own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr)
    return {};
  return std::filesystem::path(info.dli_fname).parent_path();
}

// The folders a module may lie in: next to the binary (a build tree) and where it is installed, of
// another program that uses the library of potentials too.
std::filesystem::path find_module() {
  std::error_code ignored;
  const auto binary = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const auto& folder : {binary, binary / "../lib/biogpu", binary / "../../../lib/biogpu",
                             own_folder() / "biogpu"}) {
    if (std::filesystem::exists(folder / kModule, ignored)) return folder / kModule;
  }
  return {};
}

const GpuBackend* open_module(std::string* why) {
  const auto path = find_module();
  if (path.empty()) {
    *why = "this build has no GPU backend";
    return nullptr;
  }
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays open until the process ends
  if (handle == nullptr) {
    *why = fmt::format("cannot open the GPU backend: {}", dlerror());
    return nullptr;
  }
  using Entry = const GpuBackend* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(handle, "biogpu_gpu_backend"));
  const GpuBackend* backend = entry == nullptr ? nullptr : entry();
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
        biogpu_gpu_backend != nullptr ? biogpu_gpu_backend() : open_module(&result.why);
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

bool has_gpu_backend() { return biogpu_gpu_backend != nullptr || !find_module().empty(); }

}  // namespace biogpu
