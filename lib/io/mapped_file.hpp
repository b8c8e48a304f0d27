#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace biogpu::io {

// A whole file in memory, read-only. Throws Error{failed} with the path and the reason where it
// cannot be opened or is no regular file.
//
// A file that another process shortens meanwhile has no bytes behind its new end: touching them
// ends the process with SIGBUS, and those of its last page read as 0. mapped_file_at() and
// check_mapped_files() turn both into an error.
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

  struct Entry;  // of the list of mapped files

 private:
  const std::uint8_t* data_ = nullptr;
  std::uint64_t size_ = 0;
  Entry* entry_ = nullptr;
};

// The path of the mapped file that the address lies in, null where it lies in none. For signal
// handlers too.
const char* mapped_file_at(const void* address) noexcept;

// Throws Error{failed} where a file became shorter while it was mapped, also if it no longer is.
// Called before an output gets its name.
void check_mapped_files();

// What is wrong with a file that became shorter while it was read.
inline constexpr std::string_view kBecameShorter =
    "became shorter while it was read; is another process writing it?";

}  // namespace biogpu::io
