// Devices, memory, streams and events of the emulated platform.
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "settings.hpp"

#include <hip/hip_runtime.h>

namespace hip_on_host {

struct Graph {
  std::vector<std::function<void()>> work;
};

struct Stream {
  int device = 0;
  std::deque<std::function<void()>> queue;
  std::uint64_t n_queued = 0;
  std::uint64_t n_done = 0;
  Graph* recording = nullptr;  // takes the work while it lives
};

struct Event {
  Stream* stream = nullptr;
  std::uint64_t position = 0;  // reached when the stream has done as many pieces of work
  std::chrono::steady_clock::time_point time;
};

namespace {

struct Allocation {
  std::size_t asked = 0;   // bytes
  std::size_t bytes = 0;   // of the mapping or block
  std::size_t offset = 0;  // of the user's pointer in it
  int device = 0;
};

struct State {
  std::recursive_mutex mutex;  // one piece of work runs at a time, whoever waits for it
  std::map<void*, Allocation> device_memory;
  std::map<int, std::size_t> used_bytes;
  std::set<Stream*> streams;
  std::map<int, Stream> default_streams;
  int running = 0;  // depth: device memory is open while it is above 0
};

thread_local hipError_t last_error = hipSuccess;

State& state() {
  static State* const the_state = new State;  // never destroyed: static objects may still free
  return *the_state;
}

thread_local int current_device = 0;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kGuardPages = false;
#else
constexpr bool kGuardPages = true;
#endif

void protect_device_memory(int protection) {
  if constexpr (kGuardPages) {
    for (const auto& [memory, allocation] : state().device_memory) {
      char* begin = static_cast<char*>(memory) - allocation.offset;
      mprotect(begin, allocation.bytes, protection);
    }
  }
}

// Device memory is readable and writable while one of these lives.
class DeviceMemoryOpen {
 public:
  DeviceMemoryOpen() {
    if (state().running++ == 0) protect_device_memory(PROT_READ | PROT_WRITE);
  }
  ~DeviceMemoryOpen() {
    if (--state().running == 0) protect_device_memory(PROT_NONE);
  }
};

Stream* resolve(Stream* stream) {
  if (stream != nullptr) return stream;
  Stream& fallback = state().default_streams[current_device];
  fallback.device = current_device;
  return &fallback;
}

void run_until(Stream& stream, std::uint64_t position) {
  const DeviceMemoryOpen open;
  while (stream.n_done < position && !stream.queue.empty()) {
    const auto work = std::move(stream.queue.front());
    stream.queue.pop_front();
    work();
    ++stream.n_done;
  }
}

void run_all_of_device(int device) {
  for (Stream* stream : state().streams) {
    if (stream->device == device) run_until(*stream, stream->n_queued);
  }
  Stream& fallback = state().default_streams[device];
  run_until(fallback, fallback.n_queued);
}

std::size_t number_from_environment(const char* name, std::size_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

hipError_t remember(hipError_t error) {
  if (error != hipSuccess) last_error = error;
  return error;
}

}  // namespace

const Settings& settings() {
  static const Settings read = [] {
    Settings result;
    result.wave_width = static_cast<int>(number_from_environment("BIOGPU_EMULATED_WAVE", 32));
    result.n_devices = static_cast<int>(number_from_environment("BIOGPU_EMULATED_DEVICES", 1));
    result.memory_bytes = number_from_environment("BIOGPU_EMULATED_MEMORY", result.memory_bytes);
    result.order_seed = static_cast<unsigned>(number_from_environment("BIOGPU_EMULATED_ORDER", 0));
    result.has_clusters = number_from_environment("BIOGPU_EMULATED_CLUSTERS", 0) != 0;
    if ((result.wave_width != 32 && result.wave_width != 64) || result.n_devices > 8 ||
        (result.has_clusters && result.wave_width != 32)) {
      std::fprintf(stderr,
                   "emulated device: BIOGPU_EMULATED_WAVE is 32 or 64, "
                   "BIOGPU_EMULATED_DEVICES 0 to 8, BIOGPU_EMULATED_CLUSTERS for waves of 32\n");
      std::exit(2);
    }
    return result;
  }();
  return read;
}

void queue_on(Stream* stream, std::function<void()> work) {
  const std::lock_guard lock(state().mutex);
  Stream* const target = resolve(stream);
  if (target->recording != nullptr) {
    target->recording->work.push_back(std::move(work));
    return;
  }
  target->queue.push_back(std::move(work));
  ++target->n_queued;
}

}  // namespace hip_on_host

using hip_on_host::state;

const char* hipGetErrorName(hipError_t error) {
  switch (error) {
    case hipSuccess:
      return "hipSuccess";
    case hipErrorInvalidValue:
      return "hipErrorInvalidValue";
    case hipErrorOutOfMemory:
      return "hipErrorOutOfMemory";
    case hipErrorInsufficientDriver:
      return "hipErrorInsufficientDriver";
    case hipErrorNoDevice:
      return "hipErrorNoDevice";
    case hipErrorInvalidDevice:
      return "hipErrorInvalidDevice";
    case hipErrorNoBinaryForGpu:
      return "hipErrorNoBinaryForGpu";
    case hipErrorNotReady:
      return "hipErrorNotReady";
    case hipErrorPeerAccessAlreadyEnabled:
      return "hipErrorPeerAccessAlreadyEnabled";
  }
  return "unknown";
}

const char* hipGetErrorString(hipError_t error) { return hipGetErrorName(error); }

hipError_t hipGetLastError() { return std::exchange(hip_on_host::last_error, hipSuccess); }

hipError_t hipGetDeviceCount(int* count) {
  *count = hip_on_host::settings().n_devices;
  return *count > 0 ? hipSuccess : hipErrorNoDevice;
}

hipError_t hipSetDevice(int device) {
  if (device < 0 || device >= hip_on_host::settings().n_devices) return hipErrorInvalidDevice;
  hip_on_host::current_device = device;
  return hipSuccess;
}

hipError_t hipGetDevice(int* device) {
  *device = hip_on_host::current_device;
  return hipSuccess;
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  if (device < 0 || device >= hip_on_host::settings().n_devices) return hipErrorInvalidDevice;
  *properties = {};
  const int wave = hip_on_host::settings().wave_width;
  std::snprintf(properties->name, sizeof properties->name, "emulated, wave %d", wave);
  std::snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "emulated");
  properties->warpSize = wave;
  properties->multiProcessorCount = 2;
  properties->major = hip_on_host::settings().has_clusters ? 9 : 0;
  properties->totalGlobalMem = hip_on_host::settings().memory_bytes;
  const auto most_shared = static_cast<std::size_t>(hip_on_host::settings().most_shared_bytes());
  properties->sharedMemPerBlock = hip_on_host::settings().has_clusters ? most_shared : 48 * 1024;
  properties->sharedMemPerBlockOptin = most_shared;
  properties->sharedMemPerMultiprocessor = most_shared;
  return hipSuccess;
}

hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
  const int n = hip_on_host::settings().n_devices;
  if (device < 0 || device >= n || peer < 0 || peer >= n) return hipErrorInvalidDevice;
  *can = device != peer ? 1 : 0;
  return hipSuccess;
}

hipError_t hipDeviceEnablePeerAccess(int peer, unsigned) {
  if (peer < 0 || peer >= hip_on_host::settings().n_devices) return hipErrorInvalidDevice;
  return hipSuccess;
}

hipError_t hipMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  const std::lock_guard lock(state().mutex);
  *total_bytes = hip_on_host::settings().memory_bytes;
  *free_bytes = *total_bytes - state().used_bytes[hip_on_host::current_device];
  return hipSuccess;
}

hipError_t hipMalloc(void** memory, std::size_t bytes) {
  const std::lock_guard lock(state().mutex);
  std::size_t& used = state().used_bytes[hip_on_host::current_device];
  if (bytes > hip_on_host::settings().memory_bytes - used) {
    return hip_on_host::remember(hipErrorOutOfMemory);
  }
  hip_on_host::Allocation allocation;
  allocation.device = hip_on_host::current_device;
  allocation.asked = bytes;
  char* begin = nullptr;
  if constexpr (hip_on_host::kGuardPages) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    allocation.bytes = (bytes + page - 1) / page * page + page;
    void* mapped = mmap(nullptr, allocation.bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return hip_on_host::remember(hipErrorOutOfMemory);
    begin = static_cast<char*>(mapped);
    allocation.bytes -= page;  // the last page stays closed: an access behind the end faults
    allocation.offset = (allocation.bytes - bytes) / 256 * 256;
  } else {
    allocation.bytes = bytes;
    begin = static_cast<char*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
    if (begin == nullptr) return hip_on_host::remember(hipErrorOutOfMemory);
    std::memset(begin, 0xA5, bytes);
  }
  used += bytes;
  *memory = begin + allocation.offset;
  state().device_memory[*memory] = allocation;
  if (state().running > 0) hip_on_host::protect_device_memory(PROT_READ | PROT_WRITE);
  return hipSuccess;
}

hipError_t hipFree(void* memory) {
  if (memory == nullptr) return hipSuccess;
  const std::lock_guard lock(state().mutex);
  const auto found = state().device_memory.find(memory);
  if (found == state().device_memory.end()) return hip_on_host::remember(hipErrorInvalidValue);
  const hip_on_host::Allocation allocation = found->second;
  hip_on_host::run_all_of_device(allocation.device);
  state().device_memory.erase(found);
  if constexpr (hip_on_host::kGuardPages) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    munmap(static_cast<char*>(memory) - allocation.offset, allocation.bytes + page);
  } else {
    std::free(memory);
  }
  state().used_bytes[allocation.device] -= allocation.asked;
  return hipSuccess;
}

hipError_t hipHostMalloc(void** memory, std::size_t bytes, unsigned) {
  // More than any host has: AddressSanitizer would end the process instead of returning nothing.
  constexpr std::size_t kTooMuch = std::size_t{1} << 40;
  *memory = bytes < kTooMuch ? std::malloc(bytes == 0 ? 1 : bytes) : nullptr;
  return *memory == nullptr ? hip_on_host::remember(hipErrorOutOfMemory) : hipSuccess;
}

hipError_t hipHostFree(void* memory) {
  std::free(memory);
  return hipSuccess;
}

hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t bytes, hipMemcpyKind,
                          hipStream_t stream) {
  if (bytes == 0) return hipSuccess;
  hip_on_host::queue_on(stream, [=] { std::memcpy(to, from, bytes); });
  return hipSuccess;
}

hipError_t hipMemsetAsync(void* memory, int byte, std::size_t bytes, hipStream_t stream) {
  if (bytes == 0) return hipSuccess;
  hip_on_host::queue_on(stream, [=] { std::memset(memory, byte, bytes); });
  return hipSuccess;
}

hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
  (void)hipMemcpyAsync(to, from, bytes, kind, nullptr);
  return hipStreamSynchronize(nullptr);
}

hipError_t hipMemset(void* memory, int byte, std::size_t bytes) {
  (void)hipMemsetAsync(memory, byte, bytes, nullptr);
  return hipStreamSynchronize(nullptr);
}

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned) {
  const std::lock_guard lock(state().mutex);
  *stream = new hip_on_host::Stream;
  (*stream)->device = hip_on_host::current_device;
  state().streams.insert(*stream);
  return hipSuccess;
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  const std::lock_guard lock(state().mutex);
  hip_on_host::run_until(*stream, stream->n_queued);
  state().streams.erase(stream);
  delete stream;
  return hipSuccess;
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
  const std::lock_guard lock(state().mutex);
  hip_on_host::Stream* const target = hip_on_host::resolve(stream);
  hip_on_host::run_until(*target, target->n_queued);
  return hipSuccess;
}

hipError_t hipDeviceSynchronize() {
  const std::lock_guard lock(state().mutex);
  hip_on_host::run_all_of_device(hip_on_host::current_device);
  return hipSuccess;
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned) {
  *event = new hip_on_host::Event;
  return hipSuccess;
}

hipError_t hipEventDestroy(hipEvent_t event) {
  const std::lock_guard lock(state().mutex);
  if (event->stream != nullptr && state().streams.count(event->stream) != 0) {
    hip_on_host::run_until(*event->stream, event->position);  // queued work may still stamp it
  }
  delete event;
  return hipSuccess;
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  const std::lock_guard lock(state().mutex);
  hip_on_host::queue_on(stream, [event] { event->time = std::chrono::steady_clock::now(); });
  event->stream = hip_on_host::resolve(stream);
  event->position = event->stream->n_queued;
  return hipSuccess;
}

hipError_t hipEventSynchronize(hipEvent_t event) {
  const std::lock_guard lock(state().mutex);
  if (event->stream != nullptr) hip_on_host::run_until(*event->stream, event->position);
  return hipSuccess;
}

// The first question finds the work not done, and does it: both answers are heard.
hipError_t hipEventQuery(hipEvent_t event) {
  const std::lock_guard lock(state().mutex);
  if (event->stream == nullptr || event->stream->n_done >= event->position) return hipSuccess;
  hip_on_host::run_until(*event->stream, event->position);
  return hip_on_host::remember(hipErrorNotReady);
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned) {
  const std::lock_guard lock(state().mutex);
  if (event->stream == nullptr) return hipSuccess;
  hip_on_host::queue_on(stream, [source = event->stream, position = event->position] {
    if (hip_on_host::state().streams.count(source) != 0) hip_on_host::run_until(*source, position);
  });
  return hipSuccess;
}

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  const std::lock_guard lock(state().mutex);
  for (const hipEvent_t event : {start, stop}) {
    if (event->stream == nullptr || event->stream->n_done < event->position) {
      return hip_on_host::remember(hipErrorNotReady);
    }
  }
  *milliseconds = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
  return hipSuccess;
}

hipError_t hipFuncSetAttribute(const void*, hipFuncAttribute, int value) {
  return value <= hip_on_host::settings().most_shared_bytes()
             ? hipSuccess
             : hip_on_host::remember(hipErrorInvalidValue);
}

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode) {
  const std::lock_guard lock(state().mutex);
  if (stream == nullptr || stream->recording != nullptr) {
    return hip_on_host::remember(hipErrorInvalidValue);
  }
  stream->recording = new hip_on_host::Graph;
  return hipSuccess;
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  const std::lock_guard lock(state().mutex);
  if (stream->recording == nullptr) return hip_on_host::remember(hipErrorInvalidValue);
  *graph = std::exchange(stream->recording, nullptr);
  return hipSuccess;
}

hipError_t hipGraphInstantiate(hipGraphExec_t* instance, hipGraph_t graph, hipGraphNode_t*, char*,
                               std::size_t) {
  *instance = new hip_on_host::Graph(*graph);
  return hipSuccess;
}

hipError_t hipGraphLaunch(hipGraphExec_t instance, hipStream_t stream) {
  for (const auto& work : instance->work) hip_on_host::queue_on(stream, work);
  return hipSuccess;
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  delete graph;
  return hipSuccess;
}

hipError_t hipGraphExecDestroy(hipGraphExec_t instance) {
  delete instance;
  return hipSuccess;
}
