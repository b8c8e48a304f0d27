#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace biogpu::fuzz {

// Bytes as a file that can be opened by its path and never touches a disk.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* bytes, std::size_t n);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const;

 private:
  int descriptor_;
};

// Ends the process, which libFuzzer reports as a finding, unless the condition holds.
void require(bool condition, const char* what);

}  // namespace biogpu::fuzz
