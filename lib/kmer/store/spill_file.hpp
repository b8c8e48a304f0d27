#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace biogpu::kmer {

// One file in a temporary folder that has no name, so that it is gone when the program ends,
// however it ends. Opened on first use. Errors: Error{failed} with folder and reason.
class SpillFile {
 public:
  explicit SpillFile(std::string folder) : folder_(std::move(folder)) {}
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  // Appends; returns the offset. One thread at a time.
  std::uint64_t append(const void* bytes, std::size_t n);
  // Any thread.
  void read(std::uint64_t offset, void* bytes, std::size_t n) const;

  std::uint64_t bytes() const { return end_; }

 private:
  void open();
  [[noreturn]] void fail(const char* what) const;

  std::string folder_;
  int descriptor_ = -1;
  std::uint64_t end_ = 0;
};

}  // namespace biogpu::kmer
