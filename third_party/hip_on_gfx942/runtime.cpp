// The functions of AMD's runtime that biogpu calls, for one device whose kernels run on the CPU.
// Every call is done when it returns; recorded work is kept as functions.
#include <hip/hip_runtime_api.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime.hpp"

namespace hip_on_gfx942 {
namespace {

constexpr std::size_t kMemoryBytes = std::size_t{4} << 30;
constexpr char kTarget[] = "amdgcn-amd-amdhsa--gfx942";

struct State {
  std::mutex mutex;
  std::map<void*, std::size_t> allocated;
  std::size_t n_allocated = 0;
  std::map<const void*, std::string> names;  // of kernels by their host function
  std::map<const void*, std::vector<std::unique_ptr<CodeObject>>*>
      objects;  // and the program that holds them
  std::vector<std::unique_ptr<std::vector<std::unique_ptr<CodeObject>>>> programs;
};

State& state() {
  static State* const the_state = new State;  // never destroyed: static objects may still free
  return *the_state;
}

thread_local hipError_t last_error = hipSuccess;

}  // namespace

hipError_t remember(hipError_t error) {
  if (error != hipSuccess) last_error = error;
  return error;
}

hipError_t perform(hipStream_t stream, std::function<void()> work, const Launch& launch) {
  const std::lock_guard lock(state().mutex);
  if (stream != nullptr && stream->recording != nullptr) {
    append(*stream->recording, std::move(work), launch);
    return hipSuccess;
  }
  try {
    work();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gfx942: %s\n", error.what());
    return remember(hipErrorLaunchFailure);
  }
  return hipSuccess;
}

namespace {

// The code objects for this device in a bundle: a count, then where each lies and for what.
void load_bundle(const unsigned char* bundle, std::vector<std::unique_ptr<CodeObject>>& objects) {
  constexpr char kMagic[] = "__CLANG_OFFLOAD_BUNDLE__";
  if (std::memcmp(bundle, kMagic, sizeof kMagic - 1) != 0)
    throw std::runtime_error("the program's kernels are in a form that is not known");
  const unsigned char* at = bundle + sizeof kMagic - 1;
  const auto number = [&at] {
    std::uint64_t value = 0;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
  };
  for (std::uint64_t n = number(); n > 0; --n) {
    const std::uint64_t offset = number(), size = number(), name_size = number();
    const std::string target(reinterpret_cast<const char*>(at), name_size);
    at += name_size;
    if (size > 0 && target.find(kTarget) != std::string::npos)
      objects.push_back(std::make_unique<CodeObject>(bundle + offset, size));
  }
}

}  // namespace

Found find_kernel(const void* function) {
  const std::lock_guard lock(state().mutex);
  const auto name = state().names.find(function);
  if (name == state().names.end()) return {};
  for (const auto& object : *state().objects.at(function))
    if (const Kernel* const kernel = object->find(name->second)) return {name->second, kernel};
  return {name->second, nullptr};
}

}  // namespace hip_on_gfx942

namespace {

using namespace hip_on_gfx942;

struct Configuration {
  dim3 blocks, threads;
  std::size_t shared_bytes;
  hipStream_t stream;
};
thread_local std::vector<Configuration> configurations;

}  // namespace

extern "C" {

// What the compiler puts into every program with kernels.
void** __hipRegisterFatBinary(const void* wrapper) {
  struct Wrapper {
    std::uint32_t magic, version;
    const unsigned char* bundle;
    void* unused;
  };
  const std::lock_guard lock(state().mutex);
  auto& program =
      state().programs.emplace_back(std::make_unique<std::vector<std::unique_ptr<CodeObject>>>());
  try {
    load_bundle(static_cast<const Wrapper*>(wrapper)->bundle, *program);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gfx942: %s\n", error.what());
  }
  return reinterpret_cast<void**>(program.get());
}

void __hipRegisterFunction(void** program, const void* function, char*, const char* name, unsigned,
                           void*, void*, void*, void*, int*) {
  const std::lock_guard lock(state().mutex);
  state().names[function] = name;
  state().objects[function] = reinterpret_cast<std::vector<std::unique_ptr<CodeObject>>*>(program);
}

void __hipRegisterVar(void**, void*, char*, char*, int, std::size_t, int, int) {}
void __hipUnregisterFatBinary(void**) {}

hipError_t __hipPushCallConfiguration(dim3 blocks, dim3 threads, std::size_t shared_bytes,
                                      hipStream_t stream) {
  configurations.push_back({blocks, threads, shared_bytes, stream});
  return hipSuccess;
}

hipError_t __hipPopCallConfiguration(dim3* blocks, dim3* threads, std::size_t* shared_bytes,
                                     hipStream_t* stream) {
  const Configuration last = configurations.back();
  configurations.pop_back();
  *blocks = last.blocks;
  *threads = last.threads;
  *shared_bytes = last.shared_bytes;
  *stream = last.stream;
  return hipSuccess;
}

hipError_t hipLaunchKernel(const void* function, dim3 blocks, dim3 threads, void** values,
                           std::size_t shared_bytes, hipStream_t stream) {
  const Found found = find_kernel(function);
  if (found.kernel == nullptr) return remember(hipErrorNoBinaryForGpu);
  const std::size_t n_threads = std::size_t{threads.x} * threads.y * threads.z;
  if (n_threads == 0 || n_threads > 1024 || blocks.x == 0 || blocks.y == 0 || blocks.z == 0)
    return remember(hipErrorInvalidConfiguration);
  std::vector<unsigned char> arguments(found.kernel->argument_bytes);
  std::size_t n = 0;
  for (const Argument& argument : found.kernel->arguments)
    if (argument.kind.compare(0, 7, "hidden_") != 0)
      std::memcpy(arguments.data() + argument.offset, values[n++], argument.size);
  const auto work = [found, blocks, threads, shared_bytes, arguments] {
    execute(found.name, *found.kernel, {blocks.x, blocks.y, blocks.z},
            {threads.x, threads.y, threads.z}, static_cast<std::uint32_t>(shared_bytes), arguments);
  };
  return perform(stream, work,
                 {function, blocks, threads, static_cast<std::uint32_t>(shared_bytes)});
}

hipError_t hipFuncSetAttribute(const void*, hipFuncAttribute, int value) {
  return value <= 64 << 10 ? hipSuccess : remember(hipErrorInvalidValue);
}

// Errors.
hipError_t hipGetLastError() { return std::exchange(last_error, hipSuccess); }
hipError_t hipPeekAtLastError() { return last_error; }
const char* hipGetErrorName(hipError_t error) {
  switch (error) {
    case hipSuccess:
      return "hipSuccess";
    case hipErrorOutOfMemory:
      return "hipErrorOutOfMemory";
    case hipErrorLaunchFailure:
      return "hipErrorLaunchFailure";
    case hipErrorNoBinaryForGpu:
      return "hipErrorNoBinaryForGpu";
    case hipErrorInvalidDevice:
      return "hipErrorInvalidDevice";
    default:
      return "an error of the emulated runtime";
  }
}
const char* hipGetErrorString(hipError_t error) { return hipGetErrorName(error); }

// The device.
hipError_t hipGetDeviceCount(int* count) {
  *count = 1;
  return hipSuccess;
}
hipError_t hipSetDevice(int device) {
  return device == 0 ? hipSuccess : remember(hipErrorInvalidDevice);
}
hipError_t hipGetDevice(int* device) {
  *device = 0;
  return hipSuccess;
}
int hipGetStreamDeviceId(hipStream_t) { return 0; }
hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600* properties, int device) {
  if (device != 0) return remember(hipErrorInvalidDevice);
  std::memset(properties, 0, sizeof *properties);
  std::snprintf(properties->name, sizeof properties->name, "gfx942 machine code on the CPU");
  std::snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "gfx942:sramecc+:xnack-");
  properties->warpSize = 64;
  properties->multiProcessorCount = 2;
  properties->major = 9;
  properties->minor = 4;
  properties->totalGlobalMem = kMemoryBytes;
  properties->sharedMemPerBlock = 64 << 10;
  properties->sharedMemPerMultiprocessor = 64 << 10;
  properties->maxSharedMemoryPerMultiProcessor = 64 << 10;
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsPerMultiProcessor = 2048;
  return hipSuccess;
}
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int) {
  switch (attribute) {
    case hipDeviceAttributeMultiprocessorCount:
      *value = 2;
      return hipSuccess;
    case hipDeviceAttributeWarpSize:
      *value = 64;
      return hipSuccess;
    default:
      return remember(hipErrorInvalidValue);
  }
}
hipError_t hipDeviceGetPCIBusId(char* text, int size, int) {
  std::snprintf(text, static_cast<std::size_t>(size), "0000:00:00.0");
  return hipSuccess;
}
hipError_t hipDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return hipSuccess;
}
hipError_t hipDeviceEnablePeerAccess(int, unsigned) { return remember(hipErrorInvalidDevice); }
hipError_t hipDeviceSynchronize() { return hipSuccess; }

// Memory: the host's.
hipError_t hipMalloc(void** memory, std::size_t bytes) {
  const std::lock_guard lock(state().mutex);
  *memory = nullptr;
  if (bytes == 0) return hipSuccess;
  if (bytes > kMemoryBytes - state().n_allocated) return remember(hipErrorOutOfMemory);
  void* const block =
      std::aligned_alloc(256, (bytes + 511) / 256 * 256);  // loads look at whole words
  if (block == nullptr) return remember(hipErrorOutOfMemory);
  std::memset(block, 0xa5, bytes);
  state().allocated[block] = bytes;
  state().n_allocated += bytes;
  *memory = block;
  return hipSuccess;
}
hipError_t hipFree(void* memory) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().allocated.find(memory);
  if (found == state().allocated.end())
    return memory == nullptr ? hipSuccess : remember(hipErrorInvalidValue);
  state().n_allocated -= found->second;
  state().allocated.erase(found);
  std::free(memory);
  return hipSuccess;
}
hipError_t hipHostMalloc(void** memory, std::size_t bytes, unsigned) {
  *memory = std::aligned_alloc(256, (bytes + 511) / 256 * 256);
  return *memory == nullptr ? remember(hipErrorOutOfMemory) : hipSuccess;
}
hipError_t hipHostFree(void* memory) {
  std::free(memory);
  return hipSuccess;
}
hipError_t hipMemGetInfo(std::size_t* n_free, std::size_t* total) {
  const std::lock_guard lock(state().mutex);
  *total = kMemoryBytes;
  *n_free = kMemoryBytes - state().n_allocated;
  return hipSuccess;
}
hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t bytes, hipMemcpyKind,
                          hipStream_t stream) {
  return perform(stream, [=] { std::memmove(to, from, bytes); });
}
hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
  return hipMemcpyAsync(to, from, bytes, kind, nullptr);
}
hipError_t hipMemcpyWithStream(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind,
                               hipStream_t stream) {
  return hipMemcpyAsync(to, from, bytes, kind, stream);
}
hipError_t hipMemsetAsync(void* memory, int byte, std::size_t bytes, hipStream_t stream) {
  return perform(stream, [=] { std::memset(memory, byte, bytes); });
}

// Streams and events.
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned) {
  *stream = new ihipStream_t;
  return hipSuccess;
}
hipError_t hipStreamDestroy(hipStream_t stream) {
  delete stream;
  return hipSuccess;
}
hipError_t hipStreamSynchronize(hipStream_t) { return hipSuccess; }
hipError_t hipStreamWaitEvent(hipStream_t, hipEvent_t, unsigned) { return hipSuccess; }
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned) {
  *event = new ihipEvent_t;
  return hipSuccess;
}
hipError_t hipEventDestroy(hipEvent_t event) {
  delete event;
  return hipSuccess;
}
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return perform(stream, [event] { event->time = std::chrono::steady_clock::now(); });
}
hipError_t hipEventSynchronize(hipEvent_t) { return hipSuccess; }
hipError_t hipEventQuery(hipEvent_t) { return hipSuccess; }
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  *milliseconds = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
  return hipSuccess;
}

}  // extern "C"
