#include "lib/io/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "lib/core/error.hpp"

namespace biogpu::io {

MappedFile::MappedFile(const std::string& path, Access access) {
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::failed, path + ": " + why);
  };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(std::string("cannot be opened: ") + std::strerror(errno));
  struct stat status {};
  const bool regular = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  void* mapping = MAP_FAILED;
  if (regular && status.st_size > 0)
    mapping = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE,
                     descriptor, 0);
  const int error = errno;
  ::close(descriptor);
  if (!regular) fail("is no regular file");
  if (status.st_size == 0) return;
  if (mapping == MAP_FAILED) fail(std::string("cannot be mapped: ") + std::strerror(error));
  data_ = static_cast<const std::uint8_t*>(mapping);
  size_ = static_cast<std::uint64_t>(status.st_size);
  (void)::madvise(mapping, size_, access == Access::whole ? MADV_WILLNEED : MADV_HUGEPAGE);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) (void)::munmap(const_cast<std::uint8_t*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace biogpu::io
