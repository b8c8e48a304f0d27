#include "tests/fuzz/support/memory_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace biogpu::fuzz {

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

MemoryFile::MemoryFile(const std::uint8_t* bytes, std::size_t n)
    : descriptor_(memfd_create("input", MFD_CLOEXEC)) {
  require(descriptor_ >= 0, "memfd_create");
  while (n > 0) {
    const ssize_t written = ::write(descriptor_, bytes, n);
    require(written > 0, "write to a memory file");
    bytes += written;
    n -= static_cast<std::size_t>(written);
  }
}

MemoryFile::~MemoryFile() { close(descriptor_); }

std::string MemoryFile::path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

}  // namespace biogpu::fuzz
