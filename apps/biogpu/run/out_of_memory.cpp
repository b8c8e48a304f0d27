#include "apps/biogpu/run/out_of_memory.hpp"

#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "apps/biogpu/run/sanitized.hpp"
#include "apps/biogpu/terminal/progress.hpp"
#include "lib/core/error.hpp"
#include "lib/io/allocation_may_fail.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {
namespace {

const char* message_label = "biogpu: ";

// A line made without allocating; what does not fit is left out.
class ShortLine {
 public:
  ShortLine& add(std::string_view text) {
    const std::size_t n = text.size() < sizeof(text_) - size_ ? text.size() : sizeof(text_) - size_;
    std::memcpy(text_ + size_, text.data(), n);
    size_ += n;
    return *this;
  }
  ShortLine& add_number(std::uint64_t n) {
    char digits[20];
    std::size_t first = sizeof(digits);
    do {
      digits[--first] = static_cast<char>('0' + n % 10);
      n /= 10;
    } while (n > 0);
    return add({digits + first, sizeof(digits) - first});
  }
  void write() const { [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, text_, size_); }

 private:
  char text_[400];
  std::size_t size_ = 0;
};

}  // namespace

void set_out_of_memory_label(const char* label) noexcept { message_label = label; }

void report_out_of_memory(std::size_t n_bytes) noexcept {
  end_progress_line();
  ShortLine line;
  line.add(message_label).add("out of memory");
  if (n_bytes > 0) line.add(": cannot get ").add_number(n_bytes).add(" more bytes");
  line.add("; use fewer threads, a smaller --batch or --max-memory where there is one\n").write();
}

#ifndef BIOGPU_SANITIZED

namespace {

constexpr std::size_t kNoMachineHas = std::size_t{1} << 46;

void end_without(std::size_t n_bytes) noexcept {
  if (n_bytes >= kNoMachineHas || io::AllocationMayFail::is_expected()) return;
  static std::atomic<bool> is_ending{false};
  if (is_ending.exchange(true))
    for (;;) pause();  // another thread writes the line
  if (!io::begin_end()) {
    is_ending = false;
    return;
  }
  io::remove_unfinished_outputs();
  report_out_of_memory(n_bytes);
  _exit(static_cast<int>(ErrorCode::host_memory));
}

// The allocator's functions, behind those below in the order of look-up.
struct Allocator {
  void* (*malloc)(std::size_t) = nullptr;
  void* (*calloc)(std::size_t, std::size_t) = nullptr;
  void* (*realloc)(void*, std::size_t) = nullptr;
  void* (*aligned_alloc)(std::size_t, std::size_t) = nullptr;
  void* (*memalign)(std::size_t, std::size_t) = nullptr;
  int (*posix_memalign)(void**, std::size_t, std::size_t) = nullptr;
};

Allocator allocator;
bool is_looking_up = false;  // dlsym() may ask for memory, and does without

template <class Function>
void look_up(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// False within the look-up, which the loader makes before there is a second thread.
bool have_allocator() noexcept {
  if (__builtin_expect(allocator.posix_memalign != nullptr, 1)) return true;
  if (is_looking_up) return false;
  is_looking_up = true;
  look_up(allocator.malloc, "malloc");
  look_up(allocator.calloc, "calloc");
  look_up(allocator.realloc, "realloc");
  look_up(allocator.aligned_alloc, "aligned_alloc");
  look_up(allocator.memalign, "memalign");
  look_up(allocator.posix_memalign, "posix_memalign");
  is_looking_up = false;
  return allocator.posix_memalign != nullptr;
}

void* checked(void* memory, std::size_t n_bytes) noexcept {
  if (__builtin_expect(memory == nullptr && n_bytes > 0, 0)) {
    end_without(n_bytes);
    errno = ENOMEM;
  }
  return memory;
}

}  // namespace

#endif

}  // namespace biogpu::app

#ifndef BIOGPU_SANITIZED

// Every library of the program calls these.
extern "C" {

using biogpu::app::allocator;
using biogpu::app::checked;
using biogpu::app::have_allocator;

void* malloc(std::size_t size) noexcept {
  return have_allocator() ? checked(allocator.malloc(size), size) : nullptr;
}

void* calloc(std::size_t n, std::size_t size) noexcept {
  std::size_t n_bytes = 0;
  if (__builtin_mul_overflow(n, size, &n_bytes)) n_bytes = SIZE_MAX;
  return have_allocator() ? checked(allocator.calloc(n, size), n_bytes) : nullptr;
}

void* realloc(void* old, std::size_t size) noexcept {
  return have_allocator() ? checked(allocator.realloc(old, size), size) : nullptr;
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return have_allocator() ? checked(allocator.aligned_alloc(alignment, size), size) : nullptr;
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return have_allocator() ? checked(allocator.memalign(alignment, size), size) : nullptr;
}

int posix_memalign(void** to, std::size_t alignment, std::size_t size) noexcept {
  if (!have_allocator()) return ENOMEM;
  const int error = allocator.posix_memalign(to, alignment, size);
  if (error == ENOMEM) checked(nullptr, size);
  return error;
}

}  // extern "C"

#endif
