#include "lib/io/thread_failure.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

namespace biogpu::io {
namespace {

// The C library reports both kinds of failure by the same number.
bool has_room_for_stack() {
  pthread_attr_t attributes;
  std::size_t size = 0;
  if (pthread_attr_init(&attributes) != 0) return true;
  pthread_attr_getstacksize(&attributes, &size);
  pthread_attr_destroy(&attributes);
  void* const stack =
      mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return errno != ENOMEM;
  munmap(stack, size);
  return true;
}

}  // namespace

Error thread_failure() {
  if (!has_room_for_stack())
    return {ErrorCode::host_memory, "out of memory for the stack of a thread; use fewer threads"};
  return {ErrorCode::failed, "cannot start a thread: " + std::generic_category().message(EAGAIN) +
                                 "; use fewer threads"};
}

}  // namespace biogpu::io
