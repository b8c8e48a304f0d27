// cuBLASLt through its C interface, declared here as far as it is used: no header of it is needed
// to build. Numbers are those of its documentation, the same in versions 12 and 13.
#include "gpu/rt/blas_library.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "gpu/rt/buffer.hpp"
#include "gpu/rt/device.hpp"

namespace biogpu::gpu {
namespace {

namespace fs = std::filesystem;

constexpr int kSuccess = 0;
constexpr int kTypeF32 = 0, kTypeF16 = 2, kTypeBf16 = 14;
constexpr int kCompute32F = 68, kComputeTf32 = 77;
constexpr int kTransposeA = 3, kEpilogue = 7, kBiasPointer = 8;  // attributes of a product
constexpr std::int32_t kTransposed = 1;
constexpr std::uint32_t kEpilogueBias = 4;
constexpr int kMaxWorkspace = 1;  // attribute of a preference
constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

struct Algorithm {
  std::uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  std::size_t workspace_bytes;
  int status;
  float waves;
  int reserved[4];
};

using Handle = void*;
struct Functions {
  int (*create)(Handle*);
  int (*destroy)(Handle);
  int (*desc_create)(Handle*, int compute, int scale_type);
  int (*desc_destroy)(Handle);
  int (*desc_set)(Handle, int attribute, const void*, std::size_t);
  int (*layout_create)(Handle*, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t);
  int (*layout_destroy)(Handle);
  int (*preference_create)(Handle*);
  int (*preference_destroy)(Handle);
  int (*preference_set)(Handle, int attribute, const void*, std::size_t);
  int (*heuristic)(Handle, Handle desc, Handle a, Handle b, Handle c, Handle d, Handle preference,
                   int n_asked, Heuristic*, int* n_found);
  int (*matmul)(Handle, Handle desc, const void* alpha, const void* a, Handle a_layout,
                const void* b, Handle b_layout, const void* beta, const void* c, Handle c_layout,
                void* d, Handle d_layout, const Algorithm*, void* workspace, std::size_t, void*);
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool find_all(void* library, Functions& f) {
  return find(library, "cublasLtCreate", f.create) && find(library, "cublasLtDestroy", f.destroy) &&
         find(library, "cublasLtMatmulDescCreate", f.desc_create) &&
         find(library, "cublasLtMatmulDescDestroy", f.desc_destroy) &&
         find(library, "cublasLtMatmulDescSetAttribute", f.desc_set) &&
         find(library, "cublasLtMatrixLayoutCreate", f.layout_create) &&
         find(library, "cublasLtMatrixLayoutDestroy", f.layout_destroy) &&
         find(library, "cublasLtMatmulPreferenceCreate", f.preference_create) &&
         find(library, "cublasLtMatmulPreferenceDestroy", f.preference_destroy) &&
         find(library, "cublasLtMatmulPreferenceSetAttribute", f.preference_set) &&
         find(library, "cublasLtMatmulAlgoGetHeuristic", f.heuristic) &&
         find(library, "cublasLtMatmul", f.matmul);
}

// Folders below `root` whose path ends in one of the places where Python packages keep it.
void add_python_folders(const fs::path& root, std::vector<fs::path>& folders) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root / "lib", error)) {
    if (entry.path().filename().string().rfind("python3", 0) != 0) continue;
    for (const char* package : {"nvidia/cu13/lib", "nvidia/cublas/lib"})
      folders.push_back(entry.path() / "site-packages" / package);
  }
}

std::vector<fs::path> folders_to_search() {
  std::error_code error;
  std::vector<fs::path> folders{""};  // the loader's own path
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  folders.push_back(program / "../lib/biogpu");
  folders.push_back(program / "../lib");
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr) folders.push_back(fs::path(value) / "lib64");
  }
  for (const char* folder : {"/usr/local/cuda/lib64", "/usr/local/cuda/lib", "/opt/cuda/lib64",
                             "/usr/local/cuda-13/lib64", "/usr/local/cuda-12/lib64"})
    folders.emplace_back(folder);
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr) continue;
    folders.push_back(fs::path(value) / "lib");
    add_python_folders(value, folders);
  }
  return folders;
}

void* open_library(std::string* why) {
  const char* const chosen = std::getenv("BIOGPU_CUBLAS");
  if (chosen != nullptr) {
    void* const library = dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) *why = std::string("BIOGPU_CUBLAS: ") + dlerror();
    return library;
  }
  for (const fs::path& folder : folders_to_search()) {
    for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12"}) {
      const fs::path path = folder.empty() ? fs::path(name) : folder / name;
      std::error_code error;
      if (!folder.empty() && !fs::exists(path, error)) continue;
      void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library != nullptr) return library;  // stays open until the process ends
    }
  }
  *why = "cuBLASLt was not found; BIOGPU_CUBLAS names its file";
  return nullptr;
}

int type_number(BlasProduct::Type type) {
  return type == BlasProduct::Type::f32    ? kTypeF32
         : type == BlasProduct::Type::fp16 ? kTypeF16
                                           : kTypeBf16;
}

// All that the choice of an algorithm depends on.
using Shape = std::array<std::int64_t, 11>;

Shape shape_of(const BlasProduct& p) {
  return {p.m,   p.n,   p.k,   static_cast<int>(p.operand), static_cast<int>(p.out), p.lda,
          p.ldb, p.ldo, p.ldr, p.bias != nullptr,           p.residual != nullptr};
}

struct Plan {
  Handle desc = nullptr, a = nullptr, b = nullptr, c = nullptr, d = nullptr;
  Algorithm algorithm{};
  bool usable = false;
};

}  // namespace

struct BlasLibrary::State {
  Functions call{};
  Handle handle = nullptr;
  std::map<Shape, Plan> plans;
  DeviceBuffer<std::uint8_t> workspace;

  ~State() {
    for (auto& [shape, plan] : plans) {
      for (const Handle layout : {plan.a, plan.b, plan.c, plan.d})
        if (layout != nullptr) call.layout_destroy(layout);
      if (plan.desc != nullptr) call.desc_destroy(plan.desc);
    }
    if (handle != nullptr) call.destroy(handle);
  }

  // The library counts columns first: out^T[n, m] = (b as [k, n])^T times a as [k, m].
  Plan make_plan(const BlasProduct& p) {
    Plan plan;
    const int operand = type_number(p.operand), out = type_number(p.out);
    const bool tf32 = p.operand == BlasProduct::Type::f32;
    bool good =
        call.desc_create(&plan.desc, tf32 ? kComputeTf32 : kCompute32F, kTypeF32) == kSuccess;
    const auto set = [&](int attribute, const auto& value) {
      good = good && call.desc_set(plan.desc, attribute, &value, sizeof value) == kSuccess;
    };
    const auto layout = [&](Handle& made, int type, std::int64_t rows, std::int64_t columns,
                            std::int64_t stride) {
      good = good && call.layout_create(&made, type, static_cast<std::uint64_t>(rows),
                                        static_cast<std::uint64_t>(columns), stride) == kSuccess;
    };
    set(kTransposeA, kTransposed);
    if (p.bias != nullptr) {
      set(kEpilogue, kEpilogueBias);
      set(kBiasPointer, p.bias);
    }
    layout(plan.a, operand, p.k, p.n, p.ldb);
    layout(plan.b, operand, p.k, p.m, p.lda);
    layout(plan.c, out, p.n, p.m, p.residual != nullptr ? p.ldr : p.ldo);
    layout(plan.d, out, p.n, p.m, p.ldo);
    Handle preference = nullptr;
    good = good && call.preference_create(&preference) == kSuccess;
    good = good && call.preference_set(preference, kMaxWorkspace, &kWorkspaceBytes,
                                       sizeof kWorkspaceBytes) == kSuccess;
    Heuristic found{};
    int n_found = 0;
    good = good && call.heuristic(handle, plan.desc, plan.a, plan.b, plan.c, plan.d, preference, 1,
                                  &found, &n_found) == kSuccess;
    if (preference != nullptr) call.preference_destroy(preference);
    plan.algorithm = found.algorithm;
    plan.usable = good && n_found > 0 && found.status == kSuccess;
    return plan;
  }
};

BlasLibrary::BlasLibrary(std::unique_ptr<State> state) : state_(std::move(state)) {}
BlasLibrary::~BlasLibrary() = default;

std::unique_ptr<BlasLibrary> BlasLibrary::open(std::string* why) {
  if (kPlatformName != std::string_view("cuda")) {
    *why = "cuBLASLt is for NVIDIA's devices";
    return nullptr;
  }
  void* const library = open_library(why);
  if (library == nullptr) return nullptr;
  auto state = std::make_unique<State>();
  if (!find_all(library, state->call)) {
    *why = "the cuBLASLt that was found lacks functions of version 12";
    return nullptr;
  }
  if (const int status = state->call.create(&state->handle); status != kSuccess) {
    *why = "cuBLASLt cannot start on this device: status " + std::to_string(status);
    return nullptr;
  }
  state->workspace = DeviceBuffer<std::uint8_t>(kWorkspaceBytes);
  return std::unique_ptr<BlasLibrary>(new BlasLibrary(std::move(state)));
}

bool BlasLibrary::multiply(const BlasProduct& p, Stream& stream) {
  State& state = *state_;
  const Shape shape = shape_of(p);
  auto found = state.plans.find(shape);
  if (found == state.plans.end()) found = state.plans.emplace(shape, state.make_plan(p)).first;
  Plan& plan = found->second;
  if (!plan.usable) return false;
  if (p.bias != nullptr) state.call.desc_set(plan.desc, kBiasPointer, &p.bias, sizeof p.bias);
  const float beta = p.residual != nullptr ? 1.0f : 0.0f;
  const void* const c = p.residual != nullptr ? p.residual : p.out_data;
  const int status = state.call.matmul(state.handle, plan.desc, &p.scale, p.b, plan.a, p.a, plan.b,
                                       &beta, c, plan.c, p.out_data, plan.d, &plan.algorithm,
                                       state.workspace.data(), kWorkspaceBytes, stream.handle());
  if (status != kSuccess) plan.usable = false;
  return status == kSuccess;
}

}  // namespace biogpu::gpu
