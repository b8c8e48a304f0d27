#pragma once

#include <cstdint>
#include <string>

namespace biogpu::io {

// A whole file in memory, read-only, its pages read when they are touched. Throws Error{failed}
// with the path and the reason where it cannot be opened or is no regular file.
class MappedFile {
 public:
  MappedFile() = default;
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  const std::uint8_t* data() const { return data_; }
  std::uint64_t size() const { return size_; }

 private:
  const std::uint8_t* data_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace biogpu::io
