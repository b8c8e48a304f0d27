#include "lib/bwt/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "lib/core/error.hpp"

namespace biogpu::bwt {

MappedFile::MappedFile(const std::string& path) {
  const auto fail = [&](const char* what) {
    throw Error(ErrorCode::failed, std::string("cannot ") + what + " " + path + ": " +
                                       (errno != 0 ? std::strerror(errno) : "no regular file"));
  };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail("open");
  struct stat status {};
  errno = 0;
  void* mapping = MAP_FAILED;
  const bool sized = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  size_ = sized ? static_cast<std::uint64_t>(status.st_size) : 0;
  if (sized && size_ > 0) mapping = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int error = errno;
  ::close(descriptor);
  errno = error;
  if (!sized || (size_ > 0 && mapping == MAP_FAILED)) fail("map");
  if (size_ == 0) return;
  data_ = static_cast<const std::uint8_t*>(mapping);
  (void)::madvise(mapping, size_, MADV_HUGEPAGE);
  (void)::madvise(mapping, size_, MADV_WILLNEED);
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

}  // namespace biogpu::bwt
