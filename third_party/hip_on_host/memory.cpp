// Memory of the emulated platform. That of a device can be touched by its work alone, and a page
// behind the end of each piece never.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "runtime.hpp"

using hip_on_host::state;

namespace hip_on_host {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kGuardPages = false;
#else
constexpr bool kGuardPages = true;
#endif

}  // namespace

void protect_device_memory(int protection) {
  if constexpr (kGuardPages) {
    for (const auto& [memory, allocation] : state().device_memory) {
      char* begin = static_cast<char*>(memory) - allocation.offset;
      mprotect(begin, allocation.bytes, protection);
    }
  }
}

}  // namespace hip_on_host

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
