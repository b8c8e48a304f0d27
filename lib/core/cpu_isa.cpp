#include "lib/core/cpu_isa.hpp"

#include <array>
#include <cstdlib>
#include <mutex>

#include "lib/core/simd_targets.hpp"
// Highway after its settings.
#include <hwy/highway.h>

#include "lib/core/error.hpp"

namespace biogpu {
namespace {

struct Isa {
  std::string_view name;
  std::int64_t target;
};

#if defined(__aarch64__)
constexpr std::array<Isa, 1> kIsas = {{{"neon", HWY_NEON}}};
constexpr const char* kNeeded = "NEON and AES";
#else
constexpr std::array<Isa, 4> kIsas = {{
    {"sse4", HWY_SSE4},
    {"avx2", HWY_AVX2},
    {"avx3", HWY_AVX3},
    {"avx3_dl", HWY_AVX3_DL},
}};
constexpr const char* kNeeded = "SSE4.2 and AES";
#endif

// "a, b or c".
std::string expected_names() {
  std::string names;
  for (std::size_t i = 0; i < kIsas.size(); ++i) {
    if (i > 0) names += i + 1 < kIsas.size() ? ", " : " or ";
    names += kIsas[i].name;
  }
  return names;
}

std::int64_t usable_targets() { return hwy::SupportedTargets() & HWY_TARGETS; }

}  // namespace

void force_cpu_isa(std::string_view name) {
  hwy::SetSupportedTargetsForTest(0);
  if (name.empty()) return;
  for (const Isa& isa : kIsas) {
    if (isa.name != name) continue;
    if ((usable_targets() & isa.target) == 0)
      throw Error(ErrorCode::usage, "BIOGPU_CPU_ISA is '" + std::string(name) +
                                        "', which this CPU cannot run; its best is " + cpu_isa());
    hwy::SetSupportedTargetsForTest(isa.target);
    return;
  }
  throw Error(ErrorCode::usage,
              "BIOGPU_CPU_ISA is '" + std::string(name) + "'; expected " + expected_names());
}

void prepare_cpu_isa() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (const char* name = std::getenv("BIOGPU_CPU_ISA")) force_cpu_isa(name);
    if (usable_targets() == 0)
      throw Error(ErrorCode::device,
                  std::string("this CPU has no ") + kNeeded + "; the CPU kernels need both");
  });
}

bool maxima_have_one_port() {
#if defined(__x86_64__)
  static const bool intel = __builtin_cpu_is("intel") != 0;
  return intel;
#else
  return false;
#endif
}

std::string cpu_isa() {
  prepare_cpu_isa();
  const std::int64_t targets = usable_targets();
  return hwy::TargetName(targets & -targets);
}

}  // namespace biogpu
