#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace biogpu::io {

// A whole file in memory, read-only. Throws Error{failed} with the path and the reason where it
// cannot be opened or is no regular file.
class MappedFile {
 public:
  // Whether pages are read ahead, all of them, or as they are touched, anywhere.
  enum class Access { whole, scattered };

  MappedFile() = default;
  explicit MappedFile(const std::string& path, Access access = Access::whole);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  const std::uint8_t* data() const { return data_; }
  std::uint64_t size() const { return size_; }
  std::string_view bytes() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  const std::uint8_t* data_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace biogpu::io
