#include "lib/lab/profile_range.hpp"

#include <dlfcn.h>

namespace biogpu::lab {
namespace {

// Both take the name of a range and give its depth.
struct RangeLibrary {
  const char* name = nullptr;
  int (*push)(const char*) = nullptr;
  int (*pop)() = nullptr;
};

// Loaded when it is first asked for, so that no other run looks for it.
const RangeLibrary& range_library() {
  static const RangeLibrary kLibrary = [] {
    struct Candidate {
      const char *file, *push, *pop;
    };
    constexpr Candidate kCandidates[] = {
        {"libnvToolsExt.so.1", "nvtxRangePushA", "nvtxRangePop"},
        {"librocprofiler-sdk-roctx.so.1", "roctxRangePushA", "roctxRangePop"},
        {"librocprofiler-sdk-roctx.so.0", "roctxRangePushA", "roctxRangePop"},
        {"libroctx64.so.4", "roctxRangePushA", "roctxRangePop"},
    };
    for (const Candidate& candidate : kCandidates) {
      void* const handle = ::dlopen(candidate.file, RTLD_NOW | RTLD_LOCAL);
      if (handle == nullptr) continue;
      RangeLibrary library;
      library.name = candidate.file;
      library.push = reinterpret_cast<int (*)(const char*)>(::dlsym(handle, candidate.push));
      library.pop = reinterpret_cast<int (*)()>(::dlsym(handle, candidate.pop));
      if (library.push != nullptr && library.pop != nullptr) return library;
    }
    return RangeLibrary{};
  }();
  return kLibrary;
}

}  // namespace

const char* profile_library() { return range_library().name; }

ProfileRange::ProfileRange(const char* name)
    : is_open_(name != nullptr && range_library().name != nullptr) {
  if (is_open_) range_library().push(name);
}

ProfileRange::~ProfileRange() {
  if (is_open_) range_library().pop();
}

}  // namespace biogpu::lab
